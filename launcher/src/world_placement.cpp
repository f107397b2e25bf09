#include "world_placement.hpp"

#include <algorithm>
#include <optional>

#include "llamada/launcher/host_list.hpp"
#include "llamada/launcher/placement.hpp"

namespace llamada::launcher {
namespace {

std::string_view short_name(std::string_view host) { return host.substr(0, host.find('.')); }

/// The node of a name as the user writes it. Two nodes may be on one host: then the one that mpirun was given
/// under this name.
std::optional<std::uint32_t> find_node(const std::string& name, const WorldSurroundings& surroundings) {
  const auto& nodes = surroundings.job.nodes;
  for (std::uint32_t node = 0; node < nodes.size(); ++node)
    if (nodes[node].name == name) return node;
  for (std::uint32_t node = 0; node < surroundings.hosts.size(); ++node) {
    const std::string& host = surroundings.hosts[node];
    if (name == host || name == short_name(host)) return node;
  }
  if (!is_this_host(name, {}, {})) return std::nullopt;
  if (nodes.empty()) return 0;
  const std::uint32_t own = control::own_node_of(nodes);
  return own < nodes.size() ? std::optional(own) : std::nullopt;
}

std::string names_of_all(const WorldSurroundings& surroundings) {
  constexpr std::size_t named_max = 8;
  std::string names;
  const auto& nodes = surroundings.job.nodes;
  const std::size_t count = nodes.empty() ? surroundings.hosts.size() : nodes.size();
  for (std::size_t node = 0; node < std::min(count, named_max); ++node)
    names += (node == 0 ? "" : ", ") + (nodes.empty() ? surroundings.hosts[node] : nodes[node].name);
  return count > named_max ? names + ", …" : names;
}

bool is_lost(std::uint32_t node, const WorldSurroundings& surroundings) {
  return std::ranges::find(surroundings.lost_nodes, node) != surroundings.lost_nodes.end();
}

/// A node that a command may use.
struct Candidate {
  std::uint32_t node = 0;
  std::optional<std::uint32_t> slots;  ///< as the info key has it
};

Result<std::vector<Candidate>> candidates_for(const SpawnCommand& command,
                                              const WorldSurroundings& surroundings) {
  std::vector<Candidate> candidates;
  if (command.host.empty()) {
    const auto count = std::max<std::size_t>(surroundings.job.nodes.size(), 1);
    for (std::uint32_t node = 0; node < count; ++node)
      if (!is_lost(node, surroundings)) candidates.push_back({node, std::nullopt});
    return candidates;
  }
  auto wanted = parse_host_option(command.host);
  if (!wanted) return propagate(wanted);
  for (const HostEntry& host : *wanted) {
    const auto node = find_node(host.name, surroundings);
    if (!node)
      return failure(Errc::not_found, "{} cannot be started on the host '{}': the job runs on {}",
                     command.program, host.name, names_of_all(surroundings));
    if (is_lost(*node, surroundings))
      return failure(Errc::not_found, "{} cannot be started on the host '{}': this node is lost",
                     command.program, host.name);
    const auto is_same = [&node](const Candidate& each) { return each.node == *node; };
    if (std::ranges::none_of(candidates, is_same)) candidates.push_back({*node, host.slots});
  }
  return candidates;
}

std::uint32_t rest(std::uint32_t all, std::uint32_t used) { return all > used ? all - used : 0; }

/// What is left of a node, as a host of a list.
HostEntry entry_of(const Candidate& candidate, const WorldSurroundings& surroundings) {
  const control::Node& node = surroundings.job.nodes[candidate.node];
  const std::uint32_t used = surroundings.ranks_on_nodes[candidate.node];
  HostEntry host{node.name, candidate.slots ? *candidate.slots : rest(node.slots, used), {}};
  if (node.max_slots != 0) host.max_slots = rest(node.max_slots, used);
  return host;
}

}  // namespace

Result<std::vector<std::uint32_t>> place_world(const std::vector<SpawnCommand>& commands,
                                               WorldSurroundings surroundings) {
  std::vector<std::uint32_t> nodes;
  for (const SpawnCommand& command : commands) {
    auto candidates = candidates_for(command, surroundings);
    if (!candidates) return propagate(candidates);
    if (surroundings.job.nodes.empty()) {
      nodes.resize(nodes.size() + command.process_count);
      continue;
    }
    std::vector<HostEntry> hosts;
    for (const Candidate& each : *candidates) hosts.push_back(entry_of(each, surroundings));
    const HostOrder order = surroundings.job.deals_by_node != 0 ? HostOrder::by_node : HostOrder::by_slot;
    auto dealt = deal_ranks(hosts, {command.process_count, order, true, {}});
    if (!dealt) return propagate(dealt);
    for (const std::uint32_t host : *dealt) {
      nodes.push_back((*candidates)[host].node);
      ++surroundings.ranks_on_nodes[nodes.back()];
    }
  }
  return nodes;
}

}  // namespace llamada::launcher
