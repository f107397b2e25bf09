#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

// Two nodes of a job may not reach each other though both reach the coordinator. Their ranks would wait for
// each other for ever. So each node says which others it has not heard for longer than a lease, and the
// coordinator gives up one of two. Pure: time goes in, decisions come out.

namespace llamada::launcher {

/// A node's side: which of the others it hears.
class NodeHearing {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// `lease`: that of nodes (node_lease.hpp).
  NodeHearing(std::chrono::nanoseconds lease, std::uint32_t own_node, std::uint32_t node_count);

  /// At every interval (node_look_interval()), with the nodes of which something has come since the last
  /// look: those that have been silent for a lease and a quarter, if these are others than at the last look.
  /// Between two looks at most two intervals count: when this process itself was stopped or late, nobody is
  /// to blame.
  std::optional<std::vector<std::uint32_t>> look(TimePoint now, std::span<const std::uint32_t> heard);

 private:
  std::chrono::nanoseconds lease_;
  std::map<std::uint32_t, std::chrono::nanoseconds> silent_for_;  ///< the other nodes
  std::optional<TimePoint> last_look_;
  std::vector<std::uint32_t> told_;
};

/// The coordinator's side.
class NodeComplaints {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  struct Verdict {
    std::uint32_t lost = 0;
    std::uint32_t other = 0;  ///< one with which it has no connection
  };

  NodeComplaints(std::chrono::nanoseconds lease, std::uint32_t own_node)
      : lease_(lease), own_node_(own_node) {}

  /// This node hears all others but these.
  void take(std::uint32_t node, const std::vector<std::uint32_t>& unheard);
  /// The node is lost: neither what it says counts, nor what is said of it.
  void forget(std::uint32_t node);
  /// At every interval: a node that is to be given up, because another one and it do not hear each other.
  /// Complaints wait for a quarter of a lease, until those of all nodes are there. Of two nodes it is the one
  /// that has lost more others, never the coordinator's own, and else the one with the higher number.
  std::optional<Verdict> look(TimePoint now);

 private:
  using Pairs = std::map<std::uint32_t, std::set<std::uint32_t>>;
  Pairs pairs() const;

  std::chrono::nanoseconds lease_;
  std::uint32_t own_node_;
  Pairs unheard_;  ///< by who says it
  std::set<std::uint32_t> lost_;
  std::chrono::nanoseconds waited_{0};  ///< since the first complaint
  std::optional<TimePoint> last_look_;
};

}  // namespace llamada::launcher
