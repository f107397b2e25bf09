#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "event_loop.hpp"
#include "llamada/launcher/job_arenas.hpp"
#include "llamada/qos/policy.hpp"
#include "node_messages.hpp"
#include "rank_process.hpp"

namespace llamada::launcher {

/// Sees which ranks of a node have slept in the same call for a while, and collects what they wait for. It
/// costs ranks that compute nothing: a few words of each arena are read four times a second.
///
/// One thread, the supervisor's.
class NodeWaits {
 public:
  using Tell = std::function<void(node::FromNode)>;

  /// All are borrowed. `tell` must not call back into this.
  NodeWaits(EventLoop& loop, const std::deque<RankProcess>& ranks, Tell& tell)
      : loop_(loop), ranks_(ranks), tell_(tell) {}

  /// The arenas are there: from now on it looks at them. They are borrowed. `deadline`: how long a rank may
  /// be in one MPI call before Overdue is told.
  void begin(JobArenas& arenas, qos::Duration deadline);
  /// Waits follows, once all that sleep have answered, or after a while. One question at a time: a further
  /// one takes its place.
  void ask(std::uint64_t question);

 private:
  /// At least so often while a DEADLINE is shorter than four looks.
  static constexpr std::chrono::milliseconds between_looks_min{10};
  static constexpr std::chrono::milliseconds between_looks_max{250};
  /// While others run, ranks that wait are asked only when they have waited so long.
  static constexpr int looks_before_asking = 4;
  /// Ranks that have been asked and still wait in the same calls are asked again, each time twice as late.
  static constexpr std::chrono::seconds asked_again_first{1};
  static constexpr std::chrono::seconds asked_again_max{30};
  static constexpr std::chrono::milliseconds between_collections{5};
  /// A rank that sleeps looks at least each 100 ms; more on a loaded machine.
  static constexpr std::chrono::milliseconds answer_max{400};

  /// A rank's stay in a call.
  struct Stay {
    std::uint64_t call_index = 0;
    std::uint32_t incarnation = 0;
    int looks = 0;                 ///< that found it asleep there, one after the other
    EventLoop::TimePoint since{};  ///< the look that found it there first
    bool is_overdue = false;       ///< which has been told
  };

  void look();
  bool look_at(const RankProcess& rank, bool& others_run);
  void look_at_deadline(const RankProcess& rank, Stay& stay, const RankView& view);
  bool is_time_to_ask(std::uint64_t signature);
  void collect();
  node::RankWaits waits_of(const RankProcess& rank, bool& answers) const;

  EventLoop& loop_;
  const std::deque<RankProcess>& ranks_;
  Tell& tell_;
  JobArenas* arenas_ = nullptr;
  qos::Duration deadline_ = qos::duration_infinite;
  std::chrono::nanoseconds between_looks_{between_looks_max};
  std::vector<Stay> stays_;  // by slot
  std::uint64_t asked_signature_ = 0;
  std::chrono::seconds asked_again_{asked_again_first};
  EventLoop::TimePoint next_ask_{};
  std::uint64_t question_ = 0;
  bool is_collecting_ = false;
  std::uint32_t survey_ = 0;
  EventLoop::TimePoint collects_until_{};
};

}  // namespace llamada::launcher
