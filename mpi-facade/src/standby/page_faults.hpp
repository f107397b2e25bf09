#pragma once

#include <chrono>

namespace llamada::mpi::standby {

/// What the pages cost that a process changes behind a fork: the kernel copies each of them once.
class PageFaults {
 public:
  /// A fault with a copy of 4 KiB, as measured on machines of 2020 to 2025.
  static constexpr std::chrono::nanoseconds one{1000};

  PageFaults() : last_(count()) {}

  /// Of all faults since the last look. Those that have another cause make it too large, never too small.
  std::chrono::nanoseconds cost_since_last_look();

 private:
  static long count();

  long last_;
};

}  // namespace llamada::mpi::standby
