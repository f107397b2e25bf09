#include "node_hearing.hpp"

#include <algorithm>
#include <utility>

#include "leases.hpp"
#include "node_lease.hpp"

namespace llamada::launcher {
namespace {

using std::chrono::nanoseconds;

/// The time since the last look; the first one begins it.
template <typename TimePoint>
nanoseconds since(std::optional<TimePoint>& last, TimePoint now) {
  return now - std::exchange(last, now).value_or(now);
}

}  // namespace

NodeHearing::NodeHearing(nanoseconds lease, std::uint32_t own_node, std::uint32_t node_count)
    : lease_(lease) {
  for (std::uint32_t node = 0; node < node_count; ++node)
    if (node != own_node) silent_for_[node] = nanoseconds(0);
}

std::optional<std::vector<std::uint32_t>> NodeHearing::look(TimePoint now,
                                                            std::span<const std::uint32_t> heard) {
  const nanoseconds elapsed = counted(since(last_look_, now), node_look_interval(lease_));
  for (auto& [node, silent_for] : silent_for_) silent_for += elapsed;
  for (const std::uint32_t node : heard)
    if (const auto other = silent_for_.find(node); other != silent_for_.end()) other->second = nanoseconds(0);
  std::vector<std::uint32_t> silent;
  for (const auto& [node, silent_for] : silent_for_)
    if (silent_for >= node_silence_max(lease_)) silent.push_back(node);
  if (silent == told_) return std::nullopt;
  told_ = silent;
  return silent;
}

void NodeComplaints::take(std::uint32_t node, const std::vector<std::uint32_t>& unheard) {
  unheard_[node] = {unheard.begin(), unheard.end()};
}

void NodeComplaints::forget(std::uint32_t node) { lost_.insert(node); }

/// Of the nodes that are left: each with those that it does not hear, or that do not hear it.
NodeComplaints::Pairs NodeComplaints::pairs() const {
  Pairs pairs;
  for (const auto& [node, unheard] : unheard_)
    for (const std::uint32_t other : unheard) {
      if (lost_.contains(node) || lost_.contains(other)) continue;
      pairs[node].insert(other);
      pairs[other].insert(node);
    }
  return pairs;
}

std::optional<NodeComplaints::Verdict> NodeComplaints::look(TimePoint now) {
  const nanoseconds elapsed = since(last_look_, now);
  Pairs open = pairs();
  if (open.empty()) {
    waited_ = nanoseconds(0);
    return std::nullopt;
  }
  // After a late look, what nodes have taken back meanwhile may still be to be read.
  if (elapsed > 2 * node_look_interval(lease_)) return std::nullopt;
  if ((waited_ += elapsed) < lease_ / 4) return std::nullopt;
  open.erase(own_node_);
  const auto worst = std::ranges::max_element(open, [](const auto& one, const auto& other) {
    return std::pair(one.second.size(), one.first) < std::pair(other.second.size(), other.first);
  });
  return Verdict{worst->first, *worst->second.begin()};
}

}  // namespace llamada::launcher
