#include "link_choice.hpp"

#include <algorithm>
#include <optional>

namespace llamada::launcher {

PairProbe there_and_back(const PairProbe& there, const PairProbe& back) {
  return {std::min(there.udp_bytes, back.udp_bytes), std::min(there.ethernet_mtu, back.ethernet_mtu)};
}

namespace {

PairProbe pair_of(std::span<const NodeProbe> probes, std::size_t one, std::size_t other) {
  return there_and_back(probes[one].pairs.at(other), probes[other].pairs.at(one));
}

template <typename Visit>
void for_all_pairs(std::size_t nodes, const Visit& visit) {
  for (std::size_t one = 0; one < nodes; ++one)
    for (std::size_t other = one + 1; other < nodes; ++other) visit(one, other);
}

/// Why raw Ethernet does not reach every node; nothing: it does.
std::optional<std::string> why_no_ethernet(std::span<const NodeProbe> probes,
                                           std::span<const std::string> names) {
  for (std::size_t node = 0; node < probes.size(); ++node)
    if (!probes[node].why_no_ethernet.empty())
      return fmt::format("the node '{}' has no raw Ethernet: {}", names[node], probes[node].why_no_ethernet);
  std::optional<std::string> why;
  for_all_pairs(probes.size(), [&](std::size_t one, std::size_t other) {
    if (!why && pair_of(probes, one, other).ethernet_mtu == 0)
      why = fmt::format(
          "raw frames do not travel from the node '{}' to the node '{}' and back: the nodes are not on one "
          "Ethernet segment, or they share one host",
          names[one], names[other]);
  });
  return why;
}

Status check_udp(std::span<const NodeProbe> probes, std::span<const std::string> names) {
  Status checked;
  for_all_pairs(probes.size(), [&](std::size_t one, std::size_t other) {
    if (checked && pair_of(probes, one, other).udp_bytes == 0)
      checked = failure(Errc::not_found,
                        "UDP does not travel from the node '{}' to the node '{}' and back: if a firewall is "
                        "between them, open its UDP ports of net.ipv4.ip_local_port_range",
                        names[one], names[other]);
  });
  return checked;
}

}  // namespace

Result<ChosenLink> choose_link(LinkWish wish, std::span<const NodeProbe> probes,
                               std::span<const std::string> names) {
  if (auto checked = check_udp(probes, names); !checked) return propagate(checked);
  ChosenLink chosen;
  const auto no_ethernet = wish == LinkWish::udp ? "--link udp" : why_no_ethernet(probes, names);
  if (no_ethernet && wish == LinkWish::ethernet)
    return failure(Errc::not_found, "--link ethernet is not possible: {}", *no_ethernet);
  LinkChoice& choice = chosen.choice;
  choice.udp_bytes = choice.ethernet_mtu = UINT32_MAX;
  for_all_pairs(probes.size(), [&](std::size_t one, std::size_t other) {
    const PairProbe pair = pair_of(probes, one, other);
    choice.udp_bytes = std::min(choice.udp_bytes, pair.udp_bytes);
    choice.ethernet_mtu = std::min(choice.ethernet_mtu, pair.ethernet_mtu);
  });
  const std::string udp = fmt::format("UDP, {} bytes a datagram", choice.udp_bytes);
  if (no_ethernet) {
    choice.ethernet_mtu = 0;
    chosen.what = udp;
    chosen.why = *no_ethernet;
    return chosen;
  }
  chosen.what = fmt::format("raw Ethernet, {} bytes a frame, for small messages; {}, for large ones",
                            choice.ethernet_mtu, udp);
  chosen.why = wish == LinkWish::ethernet ? "--link ethernet" : "raw frames reach all nodes";
  return chosen;
}

}  // namespace llamada::launcher
