#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <vector>

#include "event_loop.hpp"
#include "llamada/launcher/job_arenas.hpp"
#include "node_hearing.hpp"
#include "node_messages.hpp"

namespace llamada::launcher {

/// Which other nodes this one hears: tells of those that are silent for long, and lets a test cut some off.
///
/// Threads: that of the event loop.
class NodeReach {
 public:
  using Tell = std::function<void(node::FromNode)>;

  /// Borrows all of these.
  NodeReach(EventLoop& loop, const Tell& tell) : loop_(loop), tell_(tell) {}

  /// Once the nodes have met; node::Unheard may follow, unless the lease is 0. `arenas` must outlive this
  /// object, or end() comes before.
  void begin(JobArenas& arenas, std::chrono::nanoseconds lease, std::uint32_t own_node,
             std::uint32_t node_count);
  /// The job ends: nobody is silent any more.
  void end() { is_over_ = true; }
  /// Takes nothing of some nodes until the cut is over.
  void cut(node::CutNode&& cut);

 private:
  void look();
  void hear();

  EventLoop& loop_;
  const Tell& tell_;
  JobArenas* arenas_ = nullptr;  ///< since begin()
  std::chrono::nanoseconds interval_{0};
  std::optional<NodeHearing> hearing_;
  std::list<std::vector<std::uint32_t>> cuts_;
  bool is_over_ = false;
};

}  // namespace llamada::launcher
