#pragma once

#include <chrono>
#include <cstdint>

namespace llamada::mpi::standby {

/// Says at which MPI calls to look at the clock, and when a standby is due, so that a call costs nothing.
/// Pure.
class Pace {
 public:
  using Time = std::chrono::nanoseconds;

  /// The automatic interval assumes that a rank dies this often.
  static constexpr Time assumed_time_between_deaths = std::chrono::hours(24);
  /// The automatic interval at first, and its bounds.
  static constexpr Time automatic_first = std::chrono::seconds(10);
  static constexpr Time automatic_min = std::chrono::seconds(1);
  static constexpr Time automatic_max = std::chrono::hours(1);

  /// `interval`: the time between two standbys; 0: automatic. `now` begins the first.
  Pace(Time interval, Time now)
      : is_automatic_(interval == Time{}),
        interval_(is_automatic_ ? automatic_first : interval),
        last_standby_(now),
        last_look_(now) {}

  /// Looks at the clock. True if a standby is due; made() or skipped() follows.
  bool look(Time now);
  /// A standby was made, which has cost the rank so much time: the next one is due an interval later.
  void made(Time now, Time cost);
  /// None could be made. The next attempt is due an interval later.
  void skipped(Time now) { last_standby_ = now; }
  /// How many MPI calls may begin until the next look: so many that some looks fall into an interval.
  std::uint64_t calls_until_look() const { return calls_; }
  Time interval() const { return interval_; }

 private:
  static constexpr int looks_per_interval = 16;
  /// After a burst of calls the program may make few for long.
  static constexpr std::uint64_t calls_max = 64;

  bool is_automatic_;
  Time interval_;
  Time last_standby_;
  Time last_look_;
  std::uint64_t calls_ = 1;
};

/// The interval at which standbys and repeated work together cost least, if one standby costs `cost` and
/// a rank dies every `between_deaths` on average: Daly's estimate, whose first term is Young's.
Pace::Time best_interval(Pace::Time cost, Pace::Time between_deaths);

}  // namespace llamada::mpi::standby
