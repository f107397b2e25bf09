#pragma once

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "llamada/base/clock.hpp"

namespace llamada::mpi {

/// Gives up the processor while that costs little. A yield that takes long has let somebody run a whole slice
/// who need not be a rank of this job; the peer that waits for us meanwhile gives up its own, and so on for
/// ever. Whoever sleeps instead is back as soon as it is woken. A slice that a rank of this job had is not
/// lost: among ranks alone yields stay, for sleeping and waking costs more; so ranks that share cores sleep a
/// few times only, and more often each time that it was no use. Where each rank has a core, whose
/// other user is no rank, it lingers before it sleeps, for its peer most likely runs, and asks the system for
/// short slices.
///
/// Where there is a core for everybody who wants one, two are on the same only until the system moves one of
/// them: soon, if both want to run all the time; late, if they take turns by yielding; even later if they
/// sleep, for who is woken is put on the core of who woke it. So then a rank keeps its core for a while.
///
/// Threads: one.
class Yielding {
 public:
  /// `clock` is borrowed.
  explicit Yielding(const Clock& clock) : clock_(&clock) {}
  bool is_by(const Clock& clock) const { return clock_ == &clock; }

  /// False when it is better to sleep now. `ranks` share the processors and have too few of them; 0: each
  /// of the job's has its own. `cores`: on so many may each of them run; 0: too few, or each is bound to its
  /// own.
  bool yield(int ranks = 0, int cores = 0) {
    if (sleeps_ > 0) {
      --sleeps_;
      return false;
    }
    ++yields_since_long_;
    const auto before = clock_->monotonic();
    sched_yield();
    took(clock_->monotonic() - before, ranks, cores);
    return true;
  }

  /// Whether the core is better kept now: neither yielded nor slept on.
  bool stays() const { return stays_until_.count() != 0 && clock_->monotonic() < stays_until_; }

  /// Whether it is still too early in a wait, of which this is the first question or not, to sleep instead of
  /// yielding: for ranks that do not share a core with each other. False while yields are short.
  bool lingers(bool first) { return sleeps_ > 0 && lingers_on(first); }

  /// Whether the next yield() refuses: a yield has just taken long.
  bool is_to_sleep() const { return sleeps_ > 0; }

  /// What a yield took.
  void took(std::chrono::nanoseconds time, int ranks, int cores = 0) {
    if (time <= unused) [[likely]]
      return;
    if (has_room(cores))
      stays_until_ = clock_->monotonic() + stay;
    else if (time > cheap && others_run(ranks))
      sleep_for_a_while(ranks != 0);
  }

  static constexpr int sleeps_after_a_long_one = 200;
  /// Of ranks that share cores: after one, and twice as often after each that comes within so many yields.
  static constexpr int sleeps_at_first = 8;
  static constexpr std::uint64_t yields_until_calm = 1000;

 private:
  /// More than a yield takes when nobody else runs meanwhile.
  static constexpr std::chrono::microseconds unused{20};
  /// Several times what another rank needs that has something to do before it waits itself.
  static constexpr std::chrono::microseconds cheap{200};
  /// Until the system has seen that a core is idle while two want another: at the next tick of its clock.
  static constexpr std::chrono::milliseconds stay{5};
  /// Several times what it takes to sleep and to be woken.
  static constexpr std::chrono::microseconds linger{200};

  /// Whether more wants to run on this machine than the ranks, as far as that can be found out; then true.
  static bool others_run(int ranks);
  /// Whether no more wants to run than there are cores, as far as that can be found out; then false.
  static bool has_room(int cores);

  /// Whoever shares a core with another rank never asks for short slices: it would be interrupted by one that
  /// is woken and has to wait for it next.
  bool lingers_on(bool first);

  void sleep_for_a_while(bool shares_with_ranks) {
    const int at_first = shares_with_ranks ? sleeps_at_first : sleeps_after_a_long_one;
    const bool is_calm = yields_since_long_ > yields_until_calm;
    last_sleeps_ = is_calm ? at_first : std::clamp(2 * last_sleeps_, at_first, sleeps_after_a_long_one);
    yields_since_long_ = 0;
    sleeps_ = last_sleeps_;
  }

  const Clock* clock_;
  int sleeps_ = 0;
  /// With how many the last while of sleeping began.
  int last_sleeps_ = 0;
  std::uint64_t yields_since_long_ = 0;
  bool has_short_slices_ = false;
  std::chrono::nanoseconds stays_until_{};
  std::chrono::nanoseconds lingers_until_{};
};

/// How many processes and threads of the whole machine run or want to (/proc/loadavg); -1 if that is not to
/// be found out. Some microseconds.
int runnable_tasks();

}  // namespace llamada::mpi
