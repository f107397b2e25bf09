#pragma once

#include <sched.h>

#include <chrono>

#include "llamada/base/clock.hpp"

namespace llamada::mpi {

/// Gives up the processor while that costs little. A yield that takes long has let somebody run a whole slice
/// who need not be a rank of this job; the peer that waits for us meanwhile gives up its own, and so on for
/// ever. Whoever sleeps instead is back as soon as it is woken. A slice that a rank of this job had is not
/// lost: among ranks alone yields stay, for sleeping and waking costs more.
///
/// Threads: one.
class Yielding {
 public:
  /// False when it is better to sleep now. `ranks` share the processors and have too few of them; 0: each
  /// of the job's has its own.
  bool yield(int ranks = 0) {
    if (sleeps_ > 0) {
      --sleeps_;
      return false;
    }
    const auto before = SystemClock().monotonic();
    sched_yield();
    took(SystemClock().monotonic() - before, ranks);
    return true;
  }

  /// What a yield took.
  void took(std::chrono::nanoseconds time, int ranks) {
    if (time > cheap && others_run(ranks)) [[unlikely]]
      sleeps_ = sleeps_after_a_long_one;
  }

  static constexpr int sleeps_after_a_long_one = 200;

 private:
  /// Several times what another rank needs that has something to do before it waits itself.
  static constexpr std::chrono::microseconds cheap{200};

  /// Whether more wants to run on this machine than the ranks, as far as that can be found out; then true.
  static bool others_run(int ranks);

  int sleeps_ = 0;
};

/// How many processes and threads of the whole machine run or want to (/proc/loadavg); -1 if that is not to
/// be found out. Some microseconds.
int runnable_tasks();

}  // namespace llamada::mpi
