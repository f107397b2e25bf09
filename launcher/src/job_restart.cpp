#include "job_restart.hpp"

#include <algorithm>
#include <utility>

namespace llamada::launcher {
namespace {

/// A host that lives, as a node there is reached from this host.
struct Host {
  control::Node node;
  std::int64_t free_slots = 0;
};

/// One of the lost nodes was this host.
bool has_died(const control::Node& host, const control::Start& job, const std::vector<std::uint32_t>& lost) {
  return std::ranges::any_of(lost, [&](std::uint32_t node) { return job.nodes[node].name == host.name; });
}

std::vector<Host> hosts_left(const control::Start& job, const std::vector<std::uint32_t>& lost,
                             const std::string& llamanetd) {
  std::vector<Host> hosts;
  for (std::uint32_t index = 0; index < job.nodes.size(); ++index) {
    const control::Node& node = job.nodes[index];
    if (has_died(node, job, lost)) continue;
    auto found = std::ranges::find(hosts, node.name, [](const Host& host) { return host.node.name; });
    if (found == hosts.end()) {
      hosts.push_back({node, node.slots});
      found = hosts.end() - 1;
      if (node.agent.empty()) found->node.agent = {llamanetd};
    }
    found->free_slots -= std::ranges::count(job.node_of_rank, index);
  }
  return hosts;
}

}  // namespace

Status replace_lost_nodes(control::Start& job, const std::vector<std::uint32_t>& lost,
                          const std::string& llamanetd) {
  std::vector<Host> hosts = hosts_left(job, lost, llamanetd);
  std::vector<control::Node> nodes = job.nodes, spares = job.spares;
  std::erase_if(spares, [&](const control::Node& spare) { return has_died(spare, job, lost); });
  for (std::uint32_t index = 0; index < nodes.size(); ++index) {
    if (std::ranges::find(lost, index) == lost.end()) continue;
    if (!spares.empty()) {
      nodes[index] = spares.front();
      spares.erase(spares.begin());
      continue;
    }
    const auto most = std::ranges::max_element(hosts, {}, &Host::free_slots);
    if (most == hosts.end()) return failure(Errc::not_found, "no host is left for its ranks");
    nodes[index] = most->node;
    most->free_slots -= std::ranges::count(job.node_of_rank, index);
  }
  job.nodes = std::move(nodes);
  job.spares = std::move(spares);
  return {};
}

}  // namespace llamada::launcher
