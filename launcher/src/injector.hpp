#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "event_loop.hpp"
#include "llamada/base/random.hpp"
#include "llamada/launcher/inject.hpp"
#include "llamada/launcher/report.hpp"

namespace llamada::launcher {

/// Carries out the --inject rules of a job: rules at a time by its own timers, rules at a call, in a function
/// or at a step by telling the rank, which kills itself. Knows which rules have fired.
///
/// What a rule draws (which rank, when next) follows from its seed alone, in an order that does not depend on
/// what became of earlier draws.
class Injector {
 public:
  /// What is done to the job.
  struct Hands {
    /// Sends a signal to the present process of a rank; false if it has none now.
    std::function<bool(std::uint32_t rank, int signal)> signal;
    /// Whether the present process of a rank repeats the past of its predecessor.
    std::function<bool(std::uint32_t rank)> is_replaying;
    /// `rule` is its text, for who is told why.
    std::function<void(const std::string&rule)> kill_driver, kill_mpirun;
    std::function<void(const InjectRule& rule, const std::string& text)> hit_node;
    /// From now on histories may use so many bytes of memory at most.
    std::function<void(std::uint64_t size_bytes)> limit_log;
  };

  Injector(EventLoop& loop, std::vector<InjectRule> rules, Hands hands);

  /// The clock of rules without an incarnation begins. The job has ranks [0, rank_count).
  void job_started(std::uint32_t rank_count);
  /// One more rule, whose clock begins now. A rule that the rank carries out itself names an incarnation that
  /// has not been started yet. The text of the rule, with its seed.
  std::string add(InjectRule rule);
  /// A process of the rank has been started.
  void rank_started(std::uint32_t rank, std::uint32_t incarnation);
  /// The lines for the process's attach answer: "die_at_call=N" …
  std::string identity_lines(std::uint32_t rank, std::uint32_t incarnation) const;
  /// A process has died by a signal: rules that it carried out itself have fired. Returns how long ago this
  /// class killed it, if it did.
  std::optional<std::chrono::nanoseconds> rank_died(const DeathRecord& death);
  /// The memory for histories is used up. The text of the rule that had it so, if there is one.
  std::optional<std::string> memory_used_up();
  /// The user has suspended the job, and nothing continues a rank meanwhile; or it goes on.
  void hold(bool held) { held_ = held; }
  /// The job ends: nothing more happens.
  void job_ends() { ended_ = true; }

  std::vector<InjectionRecord> records() const;
  /// What is still to happen, should the ranks start again: rules that have not fired, and those that fire
  /// for ever.
  std::vector<std::string> rules_left() const;
  bool needs_crash_points() const;
  /// One line for each rule that draws from a seed that nobody gave.
  std::string drawn_seeds() const;

 private:
  struct Entry {
    InjectRule rule;
    std::string text;  ///< with the seed
    Random random{0};
    std::uint32_t rank = 0;         ///< of any_rank: the one that was drawn or hit last
    std::uint32_t incarnation = 0;  ///< 0: any (of after)
    std::uint64_t fired = 0;
    std::uint64_t drawn = 0;  ///< of every: how often its time has come
    bool due = false;         ///< of after: the time is over, the rank had no process
    std::optional<EventLoop::TimePoint> killed_at;

    bool is_for(std::uint32_t slot) const { return rule.target == InjectTarget::any_rank || rank == slot; }
  };

  Entry& enter(InjectRule rule);
  void draw_rank(Entry& entry) const;
  void begin(Entry& entry);
  void set_timer(Entry& entry, std::chrono::nanoseconds delay);
  void set_timer_of_next(Entry& entry);
  void fire(Entry& entry);
  bool hit(Entry& entry);
  bool signal_one(Entry& entry, int signal);
  void slow_down(Entry& entry, EventLoop::TimePoint end);
  void let_go(std::uint32_t rank);
  static bool fits(const Entry& entry, const DeathRecord& death);

  EventLoop& loop_;
  std::deque<Entry> entries_;  ///< more come, none moves
  Hands hands_;
  std::uint32_t rank_count_ = 0;
  bool held_ = false;
  bool ended_ = false;
};

}  // namespace llamada::launcher
