#pragma once

#include <functional>
#include <string>
#include <vector>

#include "event_loop.hpp"
#include "llamada/launcher/inject.hpp"
#include "llamada/launcher/report.hpp"

namespace llamada::launcher {

/// Carries out the --inject rules of a job: rules at a time by its own timers, rules at a call, in a function
/// or at a step by telling the rank, which kills itself. Knows which rules have fired.
class Injector {
 public:
  /// Sends a signal to the present process of a rank; false if it has none now.
  using Kill = std::function<bool(std::uint32_t rank, int signal)>;

  Injector(EventLoop& loop, std::vector<InjectRule> rules, Kill kill);

  /// The clock of rules without an incarnation begins.
  void job_started();
  /// A process of the rank has been started.
  void rank_started(std::uint32_t rank, std::uint32_t incarnation);
  /// The lines for the process's attach answer: "die_at_call=N" …
  std::string identity_lines(std::uint32_t rank, std::uint32_t incarnation) const;
  /// A process has died by a signal: rules that it carried out itself have fired. Returns how long ago this
  /// class killed it, if it did.
  std::optional<std::chrono::nanoseconds> rank_died(const DeathRecord& death);

  std::vector<InjectionRecord> records() const;
  bool needs_crash_points() const;

 private:
  struct Entry {
    InjectRule rule;
    std::uint32_t incarnation = 0;  ///< 0: any (of after)
    bool fired = false;
    bool due = false;  ///< of after: the time is over, the rank had no process
    std::optional<EventLoop::TimePoint> killed_at;
  };

  void set_timer(Entry& entry);
  void fire(Entry& entry);
  static bool fits(const Entry& entry, const DeathRecord& death);

  EventLoop& loop_;
  std::vector<Entry> entries_;
  Kill kill_;
};

}  // namespace llamada::launcher
