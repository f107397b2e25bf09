#include "spinning.hpp"

#include <algorithm>

namespace llamada::dcps::detail {
namespace {

constexpr std::chrono::microseconds span_max{50};
constexpr std::chrono::microseconds span_min{1};
constexpr int looks_before_yield = 32;
/// A yield to nobody takes less, one to a process that looks and yields itself takes longer.
constexpr std::chrono::nanoseconds yield_to_nobody_max{700};
/// Those who yield, too, need less even to copy large samples; a slice takes longer.
constexpr std::chrono::microseconds yield_max{1000};
constexpr std::uint32_t barred_min = 8;
constexpr std::uint32_t barred_max = 200;

}  // namespace

Spinning::Spinning(unsigned cores) : longest_(cores > 1 ? Span(span_max) : Span::zero()), span_(longest_) {}

void Spinning::came_after(Span time) {
  if (time <= span_max)
    span_ = longest_;
  else
    span_ = std::min(longest_, std::max(Span(span_min), span_ / 2));
}

bool Spinning::yields_after(int looks) const { return crowded_ || looks % looks_before_yield == 0; }

bool Spinning::yielded(Span took) {
  crowded_ = took > yield_to_nobody_max;
  if (took <= yield_max) {
    barred_next_ -= barred_next_ / 16;
    return true;
  }
  barred_ = std::clamp(4 * barred_next_, barred_min, barred_max);
  barred_next_ = barred_;
  return false;
}

Spinning::Span Spinning::cost_of_yield(Span took) { return std::min(took, Span(yield_to_nobody_max)); }

}  // namespace llamada::dcps::detail
