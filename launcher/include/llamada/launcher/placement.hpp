#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "llamada/base/result.hpp"
#include "llamada/launcher/host_list.hpp"

namespace llamada::launcher {

/// In which order ranks are dealt out to hosts: all slots of a host before the next host's, or one for each
/// host in turn.
enum class HostOrder { by_slot, by_node };

/// How many ranks a host is for; `ranks_per_node` goes before what the user has written.
std::uint32_t slots_of(const HostEntry& host, const std::optional<std::uint32_t>& ranks_per_node);

/// How the ranks of a job are to be dealt out.
struct PlacementRequest {
  std::uint32_t rank_count = 1;
  HostOrder order = HostOrder::by_slot;
  bool oversubscribe = false;                   ///< more ranks than slots are allowed, up to max_slots
  std::optional<std::uint32_t> ranks_per_node;  ///< goes before the slots of all hosts (-ppn)
};

/// Which hosts a job uses, and which rank runs on which.
struct Placement {
  std::vector<std::string> hosts;      ///< those that have ranks, in the order of the list
  std::vector<std::uint32_t> of_rank;  ///< by rank: index of its host
  bool operator==(const Placement&) const = default;
};

/// Deals out ranks to hosts; a host for which the user gave no number has one slot. Ranks beyond the slots go
/// to the hosts in turn. Pure. Errors: out_of_resources, when there are fewer slots than ranks, with both
/// numbers.
Result<Placement> place_ranks(const std::vector<HostEntry>& hosts, const PlacementRequest& request);

/// The same by the index of each rank's host in `hosts`, of which none is left out.
Result<std::vector<std::uint32_t>> deal_ranks(const std::vector<HostEntry>& hosts,
                                              const PlacementRequest& request);

}  // namespace llamada::launcher
