#pragma once

#include <chrono>

namespace llamada {

/// A source of time, given to whatever needs one by its constructor, so that tests and simulators can set it.
class Clock {
 public:
  virtual ~Clock() = default;
  /// Time since an arbitrary point, never going back (CLOCK_MONOTONIC).
  virtual std::chrono::nanoseconds monotonic() const = 0;
  /// Time since 1970 (CLOCK_REALTIME).
  virtual std::chrono::nanoseconds realtime() const = 0;
};

/// The machine's clock. It asks the kernel's own entry points rather than libc's `clock_gettime`, which the
/// MPI library replaces within a rank in order to record what the program was told.
class SystemClock final : public Clock {
 public:
  std::chrono::nanoseconds monotonic() const override;
  std::chrono::nanoseconds realtime() const override;
};

}  // namespace llamada
