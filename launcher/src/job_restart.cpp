#include "job_restart.hpp"

#include <algorithm>
#include <utility>

namespace llamada::launcher {
namespace {

/// A host that stays, as a node there is reached from this host.
struct Host {
  control::Node node;
  std::int64_t rank_count = 0;
  std::int64_t free_slots() const { return std::int64_t{node.slots} - rank_count; }
  bool may_take(std::int64_t more) const {
    return node.max_slots == 0 || rank_count + more <= std::int64_t{node.max_slots};
  }
};

/// The job leaves this host with one of the nodes.
bool is_left(const control::Node& host, const control::Start& job, const std::vector<std::uint32_t>& left) {
  return std::ranges::any_of(left, [&](std::uint32_t node) { return job.nodes[node].name == host.name; });
}

std::vector<Host> hosts_that_stay(const control::Start& job, const std::vector<std::uint32_t>& left,
                                  const std::string& llamanetd) {
  std::vector<Host> hosts;
  for (std::uint32_t index = 0; index < job.nodes.size(); ++index) {
    const control::Node& node = job.nodes[index];
    if (is_left(node, job, left)) continue;
    auto found = std::ranges::find(hosts, node.name, [](const Host& host) { return host.node.name; });
    if (found == hosts.end()) {
      hosts.push_back({node});
      found = hosts.end() - 1;
      if (node.agent.empty()) found->node.agent = {llamanetd};
    }
    found->rank_count += std::ranges::count(job.node_of_rank, index);
  }
  return hosts;
}

/// Takes a host for so many ranks out of the spares, or else names one that has nodes.
Result<control::Node> take_host(std::vector<control::Node>& spares, std::vector<Host>& hosts,
                                std::int64_t rank_count) {
  const auto spare = std::ranges::find_if(
      spares, [rank_count](const control::Node& each) { return Host{each}.may_take(rank_count); });
  if (spare != spares.end()) {
    control::Node taken = *spare;
    spares.erase(spare);
    return taken;
  }
  Host* most = nullptr;
  for (Host& host : hosts)
    if (host.may_take(rank_count) && (most == nullptr || host.free_slots() > most->free_slots()))
      most = &host;
  if (most == nullptr) return failure(Errc::not_found, "no host is left for its ranks");
  most->rank_count += rank_count;
  return most->node;
}

}  // namespace

std::vector<std::uint32_t> nodes_on_host(const control::Start& job, std::string_view name) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t index = 0; index < job.nodes.size(); ++index)
    if (job.nodes[index].name == name) found.push_back(index);
  return found;
}

std::string hosts_text(const control::Start& job) {
  std::string text;
  for (std::uint32_t index = 0; index < job.nodes.size(); ++index)
    if (nodes_on_host(job, job.nodes[index].name).front() == index)
      text += (text.empty() ? "" : ", ") + job.nodes[index].name;
  for (std::size_t index = 0; index < job.spares.size(); ++index) {
    const char* const before = index > 0               ? ", "
                               : job.spares.size() > 1 ? " and the spares "
                                                       : " and the spare ";
    text += before + job.spares[index].name;
  }
  return text;
}

Status replace_nodes(control::Start& job, const std::vector<std::uint32_t>& left,
                     const std::string& llamanetd) {
  std::vector<Host> hosts = hosts_that_stay(job, left, llamanetd);
  std::vector<control::Node> nodes = job.nodes, spares = job.spares;
  std::erase_if(spares, [&](const control::Node& spare) { return is_left(spare, job, left); });
  for (std::uint32_t index = 0; index < nodes.size(); ++index) {
    if (std::ranges::find(left, index) == left.end()) continue;
    auto host = take_host(spares, hosts, std::ranges::count(job.node_of_rank, index));
    if (!host) return propagate(host);
    nodes[index] = std::move(*host);
  }
  job.nodes = std::move(nodes);
  job.spares = std::move(spares);
  return {};
}

Status move_node(control::Start& job, const NodeMove& move, const std::string& llamanetd) {
  std::vector<Host> hosts = hosts_that_stay(job, {}, llamanetd);
  const auto spare = std::ranges::find(job.spares, move.host, &control::Node::name);
  const bool is_spare = spare != job.spares.end();
  if (is_spare) hosts.push_back({*spare});
  const auto host = std::ranges::find(hosts, move.host, [](const Host& each) { return each.node.name; });
  if (host == hosts.end())
    return failure(Errc::not_found, "the job has no node '{}'; there are {}", move.host, hosts_text(job));
  if (!host->may_take(std::ranges::count(job.node_of_rank, move.node)))
    return failure(Errc::out_of_resources, "the node '{}' has no room (max-slots)", move.host);
  if (is_spare) job.spares.erase(spare);
  const control::Node before = std::exchange(job.nodes[move.node], host->node);
  if (nodes_on_host(job, before.name).empty()) job.spares.push_back(before);
  return {};
}

Status plan_restart(control::Start& job, const std::vector<std::uint32_t>& left,
                    const std::vector<NodeMove>& moves, const std::string& llamanetd) {
  if (auto status = replace_nodes(job, left, llamanetd); !status) return status;
  for (const NodeMove& move : moves)
    if (std::ranges::find(left, move.node) == left.end()) static_cast<void>(move_node(job, move, llamanetd));
  return {};
}

}  // namespace llamada::launcher
