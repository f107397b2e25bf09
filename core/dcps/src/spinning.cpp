#include "spinning.hpp"

#include <algorithm>
#include <thread>

namespace llamada::dcps::detail {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::microseconds span_max{50};
constexpr std::chrono::microseconds span_min{1};
constexpr std::chrono::microseconds yield_max{200};
constexpr std::uint32_t barred_count = 200;

}  // namespace

Spinning::Spinning()
    : longest_(std::thread::hardware_concurrency() > 1 ? Span(span_max) : Span::zero()), span_(longest_) {}

void Spinning::came_after(Span time) {
  if (time <= span_max)
    span_ = longest_;
  else
    span_ = std::min(longest_, std::max(Span(span_min), span_ / 2));
}

bool Spinning::yield() {
  const auto before = steady_clock::now();
  std::this_thread::yield();
  if (steady_clock::now() - before <= yield_max) return true;
  barred_ = barred_count;
  return false;
}

}  // namespace llamada::dcps::detail
