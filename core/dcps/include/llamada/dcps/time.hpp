#pragma once

#include <chrono>

#include "llamada/qos/policy.hpp"

namespace llamada::dcps {

/// A span of time; qos::duration_infinite has no end.
using Duration = qos::Duration;

/// A moment on the clock of the wall, since 1970: source and reception timestamps (DDS 1.4, 2.3.3 Time_t).
using Timestamp = std::chrono::nanoseconds;

/// One moment on both clocks, given to whatever depends on time by whoever calls it.
struct Now {
  std::chrono::nanoseconds monotonic{0};
  Timestamp realtime{0};
};

/// "Never", for moments on either clock.
inline constexpr std::chrono::nanoseconds never = std::chrono::nanoseconds::max();

/// `moment + span`, never if either is.
inline constexpr std::chrono::nanoseconds after(std::chrono::nanoseconds moment, Duration span) {
  return moment == never || span >= never - moment ? never : moment + span;
}

}  // namespace llamada::dcps
