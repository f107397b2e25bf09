#pragma once

#include <chrono>
#include <cstdint>

namespace llamada::dcps::detail {

/// How long a thread looks again and again before it sleeps: as long as that has paid off lately, so that who
/// waits for what comes seldom does not keep a core busy. Nobody looks so where there is only one core, nor
/// for a while after somebody else has used this one meanwhile.
///
/// Threads: one at a time.
class Spinning {
 public:
  using Span = std::chrono::nanoseconds;

  Spinning();

  /// Zero: not at all.
  Span span() {
    if (barred_ == 0) return span_;
    --barred_;
    return Span::zero();
  }
  /// What was waited for has come after this long.
  void came_after(Span time);
  /// Gives the core to who else wants it; false: somebody had it for so long that spinning is not worth
  /// while.
  bool yield();

 private:
  Span longest_;
  Span span_;
  std::uint32_t barred_ = 0;
};

}  // namespace llamada::dcps::detail
