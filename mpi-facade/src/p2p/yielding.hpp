#pragma once

#include <sched.h>

#include <chrono>

#include "llamada/base/clock.hpp"

namespace llamada::mpi {

/// Gives up the processor while that costs little. A yield that takes long has let somebody run a whole slice
/// who need not be a rank of this job; the peer that waits for us meanwhile gives up its own, and so on for
/// ever. Whoever sleeps instead is back as soon as it is woken.
///
/// Threads: one.
class Yielding {
 public:
  /// False when it is better to sleep now.
  bool yield() {
    if (sleeps_ > 0) {
      --sleeps_;
      return false;
    }
    const auto before = SystemClock().monotonic();
    sched_yield();
    if (SystemClock().monotonic() - before > cheap) sleeps_ = sleeps_after_a_long_one;
    return true;
  }

 private:
  /// Several times what another rank needs that has something to do before it waits itself.
  static constexpr std::chrono::microseconds cheap{200};
  static constexpr int sleeps_after_a_long_one = 200;

  int sleeps_ = 0;
};

}  // namespace llamada::mpi
