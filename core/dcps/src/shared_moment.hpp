#pragma once

#include <cstdint>

#include "llamada/base/clock.hpp"
#include "llamada/dcps/time.hpp"

namespace llamada::dcps::detail {

inline Now now_of(const Clock& clock) {
  const Clock::Both both = clock.both();
  return {both.monotonic, both.realtime};
}

/// One moment for everything that happens in one look, so that the clock is read once for many samples.
///
/// Threads: one at a time, with the participant's lock held.
class SharedMoment {
 public:
  /// A look may take in samples that arrive meanwhile, for a long time: after so many uses the clock is read
  /// again.
  static constexpr std::uint32_t uses_max = 32;

  explicit SharedMoment(const Clock& clock) : clock_(clock) {}

  /// A look begins.
  void renew() { uses_ = 0; }
  const Now& use() {
    if (uses_ == 0 || uses_ == uses_max) {
      now_ = now_of(clock_);
      uses_ = 0;
    }
    ++uses_;
    return now_;
  }

 private:
  const Clock& clock_;
  Now now_;
  std::uint32_t uses_ = 0;
};

}  // namespace llamada::dcps::detail
