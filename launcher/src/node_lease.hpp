#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "llamada/qos/liveliness.hpp"

// No rank may live twice. So a node runs its ranks only while the coordinator of the job is known to count on
// it: it asks again and again, and the answers are its lease. Without an answer for half a lease it stops its
// ranks. The coordinator, which waits for longer than a lease before it gives a node up, then starts them
// elsewhere and never answers again. Pure: time goes in, decisions come out.

namespace llamada::launcher {

/// The lease of a profile's LIVELINESS, but at least 2 s and at most 16 s: then half of it is over before the
/// kernel gives up a stream between nodes (tcp.cpp). 8 s where the profile has none.
std::chrono::nanoseconds node_lease(const qos::Liveliness& policy);

/// How often a node asks, and how often both sides look.
constexpr std::chrono::nanoseconds node_look_interval(std::chrono::nanoseconds lease) { return lease / 10; }

/// After so long without a sign of it a node is given up.
constexpr std::chrono::nanoseconds node_silence_max(std::chrono::nanoseconds lease) {
  return lease + lease / 4;
}

/// The node's side.
class NodeLease {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  enum class Deed {
    none,
    freeze,  ///< stop all ranks
    thaw,    ///< let them go on
    end,     ///< nobody counts on this node any more: kill them
  };

  explicit NodeLease(std::chrono::nanoseconds lease) : lease_(lease) {}

  /// The number of a question that is sent now.
  std::uint64_t ask(TimePoint now);
  /// The lease lasts for half its length from the moment at which this question was *sent*.
  Deed answered(std::uint64_t question, TimePoint now);
  /// At every interval. The first look begins the lease.
  Deed look(TimePoint now);

  bool is_frozen() const { return is_frozen_; }

 private:
  std::chrono::nanoseconds lease_;
  std::uint64_t last_question_ = 0;
  std::map<std::uint64_t, TimePoint> asked_;  ///< and not answered
  std::optional<TimePoint> valid_until_;
  bool is_frozen_ = false;
  TimePoint last_look_{};
  std::chrono::nanoseconds frozen_for_{0};
};

/// The coordinator's side: the leases of all nodes that have asked.
class NodeLeases {
 public:
  using TimePoint = NodeLease::TimePoint;
  struct Over {
    std::uint32_t node = 0;
    std::chrono::nanoseconds silent_for{0};
  };

  explicit NodeLeases(std::chrono::nanoseconds lease) : lease_(lease) {}

  /// A question of this node has come.
  void asked(std::uint32_t node, TimePoint now);
  void forget(std::uint32_t node) { silent_.erase(node); }
  /// At every interval: the nodes that have been silent for a lease and a quarter. Each is told once. Between
  /// two looks at most two intervals count: when this process itself was stopped or late, nobody is to blame.
  std::vector<Over> look(TimePoint now);

 private:
  struct Silent {
    TimePoint since;
    std::chrono::nanoseconds so_far{0};
  };
  std::chrono::nanoseconds lease_;
  TimePoint last_look_{};
  std::map<std::uint32_t, Silent> silent_;
};

}  // namespace llamada::launcher
