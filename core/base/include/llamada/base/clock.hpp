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

  struct Both {
    std::chrono::nanoseconds monotonic;
    std::chrono::nanoseconds realtime;
  };
  /// One moment on both.
  virtual Both both() const { return {monotonic(), realtime()}; }
};

/// The machine's clock. It asks the kernel's own entry points, not libc's `clock_gettime`: the MPI library
/// replaces that within a rank, to record each answer that the program gets.
class SystemClock final : public Clock {
 public:
  std::chrono::nanoseconds monotonic() const override;
  std::chrono::nanoseconds realtime() const override;
  /// Reads both clocks once in a millisecond. In between it reads the processor's counter if the kernel takes
  /// its time from that, otherwise one of the clocks. The answer is at most two microseconds away from the
  /// clocks. Within a thread `monotonic` never goes back.
  Both both() const override;
};

}  // namespace llamada
