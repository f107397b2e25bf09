#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "llamada/log/log_writer.hpp"
#include "llamada/replication/log_name.hpp"
#include "llamada/replication/session.hpp"

namespace llamada::mpi {

/// How long this rank has been in MPI, as far as its looks at the links show it: what passes between two
/// looks counts if the rank sleeps, else at most counted_max. A rank that computes between two looks has not
/// waited.
class InMpi {
 public:
  static constexpr std::chrono::nanoseconds counted_max = std::chrono::microseconds(100);
  void look(replication::Time now) {
    const auto passed = now - std::exchange(last_look_, now);
    time_ += std::exchange(sleeps_, false) ? passed : std::min(passed, counted_max);
  }
  void sleep() { sleeps_ = true; }
  std::chrono::nanoseconds time() const { return time_; }

 private:
  replication::Time last_look_{};
  std::chrono::nanoseconds time_{};
  bool sleeps_ = false;
};

/// How long this rank waits for another one of which nothing comes, before it asks that one's driver: at
/// first so long as an answer takes, then twice as long each time, until anything comes. All times are in MPI
/// (InMpi).
class Patience {
 public:
  static constexpr std::chrono::nanoseconds first = std::chrono::milliseconds(1);
  static constexpr std::chrono::nanoseconds most = std::chrono::milliseconds(64);

  struct Log {
    replication::LogName name;
    const log::LogWriter* copy = nullptr;
  };
  std::vector<Log> logs;  ///< that are followed

  /// A frame of the rank came last at `at`.
  void heard(replication::Time at, std::chrono::nanoseconds now) {
    if (std::exchange(heard_at_, at) != at) begin(now);
  }
  void begin(std::chrono::nanoseconds now) {
    wait_ = first;
    due_ = now + wait_;
  }
  /// Whether the rank has ended: then only the driver can answer.
  void set_ended(bool has_ended) {
    if (!std::exchange(has_ended_, has_ended) && has_ended) ask_soon();
  }
  void ask_soon() { due_ = std::chrono::nanoseconds(0); }
  std::chrono::nanoseconds due() const { return due_; }
  /// The driver is being asked. Where the last question has brought something the next one comes soon.
  void asked(std::chrono::nanoseconds now) {
    std::uint64_t records = 0;
    for (const Log& log : logs) records += log.copy->published();
    wait_ = std::exchange(records_, records) != records ? first : std::min(2 * wait_, most);
    due_ = now + wait_;
  }

 private:
  replication::Time heard_at_{};
  std::chrono::nanoseconds wait_ = first;
  std::chrono::nanoseconds due_{};
  std::uint64_t records_ = 0;
  bool has_ended_ = false;
};

}  // namespace llamada::mpi
