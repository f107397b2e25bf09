#include "node_reach.hpp"

#include <utility>

#include "node_lease.hpp"

namespace llamada::launcher {

void NodeReach::begin(JobArenas& arenas, std::chrono::nanoseconds lease, std::uint32_t own_node,
                      std::uint32_t node_count) {
  arenas_ = &arenas;
  if (lease == std::chrono::nanoseconds(0)) return;
  interval_ = node_look_interval(lease);
  hearing_.emplace(lease, own_node, node_count);
  look();
}

void NodeReach::look() {
  if (is_over_) return;
  const auto heard = arenas_->ping_nodes();
  if (!heard) return;
  loop_.after(interval_, [this] { look(); });
  if (auto unheard = hearing_->look(NodeHearing::TimePoint::clock::now(), *heard))
    tell_(node::Unheard{std::move(*unheard)});
}

void NodeReach::cut(node::CutNode&& cut) {
  if (arenas_ == nullptr) return;
  const auto added = cuts_.insert(cuts_.end(), std::move(cut.from));
  hear();
  if (cut.length_ns == 0) return;
  loop_.after(std::chrono::nanoseconds(cut.length_ns), [this, added] {
    cuts_.erase(added);
    hear();
  });
}

/// All nodes but those that are cut off.
void NodeReach::hear() {
  std::vector<std::uint32_t> cut_off;
  for (const std::vector<std::uint32_t>& cut : cuts_) cut_off.insert(cut_off.end(), cut.begin(), cut.end());
  if (auto status = arenas_->stop_hearing(cut_off); !status)
    tell_(control::Notice{fmt::format("mpirun: a network is not cut: {}.\n", status.error().text())});
}

}  // namespace llamada::launcher
