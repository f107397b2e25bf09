#pragma once

#include <chrono>
#include <cstdint>

namespace llamada::mpi::standby {

/// Says at which MPI calls to look at the clock, and when a standby is due, so that a call costs nothing.
/// Pure.
class Pace {
 public:
  using Time = std::chrono::nanoseconds;

  /// `interval`: the least time between two standbys. `now` begins the first.
  Pace(Time interval, Time now) : interval_(interval), last_standby_(now), last_look_(now) {}

  /// Looks at the clock. True if a standby is due; made() is to follow.
  bool look(Time now);
  /// A standby was made, or could not be: the next one is due an interval later.
  void made(Time now) { last_standby_ = now; }
  /// How many MPI calls may begin until the next look: so many that some looks fall into an interval.
  std::uint64_t calls_until_look() const { return calls_; }

 private:
  static constexpr int looks_per_interval = 16;
  static constexpr std::uint64_t calls_max = 1 << 20;

  Time interval_;
  Time last_standby_;
  Time last_look_;
  std::uint64_t calls_ = 1;
};

}  // namespace llamada::mpi::standby
