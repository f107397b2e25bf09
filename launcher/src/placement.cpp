#include "llamada/launcher/placement.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace llamada::launcher {
namespace {

/// What a host may have and has been given.
struct Share {
  std::uint64_t slots = 0;
  std::uint64_t most = 0;
  std::uint64_t ranks = 0;
};

Share share_of(const HostEntry& host, const PlacementRequest& request) {
  constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();
  Share share;
  share.most = host.max_slots ? *host.max_slots : no_limit;
  share.slots = slots_of(host, request.ranks_per_node);
  return share;
}

/// One rank for each host that has room, in turn, until no host has.
template <typename Limit>
void deal_in_turn(std::vector<Share>& shares, std::vector<std::uint32_t>& of_rank, std::size_t rank_count,
                  const Limit& limit) {
  for (bool dealt = true; std::exchange(dealt, false);)
    for (std::uint32_t host = 0; host < shares.size() && of_rank.size() < rank_count; ++host) {
      if (shares[host].ranks >= limit(shares[host])) continue;
      ++shares[host].ranks;
      of_rank.push_back(host);
      dealt = true;
    }
}

/// All slots of a host before the next host's.
void fill_in_order(std::vector<Share>& shares, std::vector<std::uint32_t>& of_rank, std::size_t rank_count) {
  for (std::uint32_t host = 0; host < shares.size(); ++host) {
    shares[host].ranks = std::min<std::uint64_t>(shares[host].slots, rank_count - of_rank.size());
    of_rank.insert(of_rank.end(), shares[host].ranks, host);
  }
}

std::string slots_text(const std::vector<HostEntry>& hosts, const std::vector<Share>& shares) {
  constexpr std::size_t named_max = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(hosts.size(), named_max); ++i)
    text += fmt::format("{}{} on {}", i == 0 ? "" : ", ", shares[i].slots, hosts[i].name);
  return hosts.size() > named_max ? text + ", …" : text;
}

/// Hosts without ranks take no part.
Placement without_idle_hosts(const std::vector<HostEntry>& hosts, std::vector<std::uint32_t> of_rank) {
  Placement placement;
  std::vector<bool> has_ranks(hosts.size());
  for (const std::uint32_t host : of_rank) has_ranks[host] = true;
  std::vector<std::uint32_t> number(hosts.size());
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    number[i] = static_cast<std::uint32_t>(placement.hosts.size());
    if (has_ranks[i]) placement.hosts.push_back(hosts[i].name);
  }
  for (std::uint32_t& host : of_rank) host = number[host];
  placement.of_rank = std::move(of_rank);
  return placement;
}

}  // namespace

std::uint32_t slots_of(const HostEntry& host, const std::optional<std::uint32_t>& ranks_per_node) {
  const std::uint32_t slots = ranks_per_node ? *ranks_per_node : host.slots.value_or(1);
  return host.max_slots ? std::min(slots, *host.max_slots) : slots;
}

Result<Placement> place_ranks(const std::vector<HostEntry>& hosts, const PlacementRequest& request) {
  auto dealt = deal_ranks(hosts, request);
  if (!dealt) return propagate(dealt);
  return without_idle_hosts(hosts, std::move(*dealt));
}

Result<std::vector<std::uint32_t>> deal_ranks(const std::vector<HostEntry>& hosts,
                                              const PlacementRequest& request) {
  std::vector<Share> shares;
  for (const HostEntry& host : hosts) shares.push_back(share_of(host, request));
  const std::uint64_t slots =
      std::accumulate(shares.begin(), shares.end(), std::uint64_t{0},
                      [](std::uint64_t sum, const Share& share) { return sum + share.slots; });
  std::vector<std::uint32_t> of_rank;
  if (request.order == HostOrder::by_slot)
    fill_in_order(shares, of_rank, request.rank_count);
  else
    deal_in_turn(shares, of_rank, request.rank_count, [](const Share& share) { return share.slots; });
  if (of_rank.size() < request.rank_count && !request.oversubscribe)
    return failure(Errc::out_of_resources,
                   "{} ranks need more than the {} slots of the hosts ({}); give more slots (host:N, or "
                   "slots=N in the host file), or allow more ranks than slots with --oversubscribe",
                   request.rank_count, slots, slots_text(hosts, shares));
  deal_in_turn(shares, of_rank, request.rank_count, [](const Share& share) { return share.most; });
  if (of_rank.size() < request.rank_count)
    return failure(Errc::out_of_resources,
                   "{} ranks are too many: the hosts take at most {} (max-slots in the host file)",
                   request.rank_count, of_rank.size());
  // Neighbours in rank stay on one host, too, where there are more ranks than slots.
  if (request.order == HostOrder::by_slot) std::sort(of_rank.begin(), of_rank.end());
  return of_rank;
}

}  // namespace llamada::launcher
