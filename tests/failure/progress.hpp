#pragma once

#include <sys/types.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "llamada/llamanet/inspector.hpp"

namespace llamada::failures {

/// How long a job may stand still before it counts as hung. However slow a run is: as long as its ranks count
/// something it goes on.
struct HangLimits {
  double still_seconds = 120;   ///< nothing moves: no message, no outcome, no call
  double idle_seconds = 300;    ///< calls are made, but nothing comes of them: somebody tests for ever
  double total_seconds = 3600;  ///< however much moves
};

/// A sum of everything that the ranks of a job have counted so far.
struct Movement {
  std::uint64_t work = 0;   ///< messages, bytes, collectives, outcomes, comparisons, lives
  std::uint64_t calls = 0;  ///< MPI calls begun
  bool operator==(const Movement&) const = default;
};

/// Decides from what is seen of a job, and when, whether it hangs. Times are seconds since the job's start,
/// and only grow. One thread at a time.
class HangJudge {
 public:
  explicit HangJudge(HangLimits limits) : limits_(limits) {}

  void see(double now_seconds, const Movement& movement);
  /// Why the job counts as hung at this time, empty while it does not.
  std::string verdict(double now_seconds) const;
  /// How often something new was seen.
  int movements() const { return movements_; }

 private:
  HangLimits limits_;
  Movement last_;
  double work_moved_ = 0, calls_moved_ = 0;
  int movements_ = 0;
};

/// Looks at the arenas of a running job from outside, several times a second, in a thread of its own: a
/// driver that has been stopped lets one who asks it wait, until it is killed. So end the job before this is
/// destroyed.
class ProgressWatch {
 public:
  ProgressWatch(pid_t mpirun, int ranks, HangLimits limits);

  /// Why the job counts as hung now, empty while it does not. Any thread.
  std::string hung() const;
  int movements() const;
  /// Where each rank was when it was last seen.
  std::string description() const;

 private:
  std::vector<llamanet::Inspector> find_inspectors() const;
  void watch(const std::stop_token& stop);
  double now_seconds() const;

  const pid_t mpirun_;
  const std::size_t ranks_;
  const double start_seconds_;
  mutable std::mutex mutex_;  ///< guards judge_ and description_
  HangJudge judge_;
  std::string description_;
  std::jthread thread_;  ///< last, so that it ends first
};

}  // namespace llamada::failures
