#include "llamada/launcher/job_control.hpp"

#include <algorithm>

#include "job_control_fields.hpp"
#include "message_stream.hpp"

namespace llamada::launcher {
namespace control {

constexpr std::string_view ends_of(const Message* /*stream*/) { return "mpirun and llamanetd"; }

std::vector<std::byte> encode(const Message& message) { return encode_message(message); }

std::uint32_t own_node_of(const std::vector<Node>& nodes) {
  const auto own = std::ranges::find_if(nodes, [](const Node& node) { return node.agent.empty(); });
  return static_cast<std::uint32_t>(own - nodes.begin());
}

std::uint32_t node_of(const Start& job, std::uint32_t rank) {
  return rank < job.node_of_rank.size() ? job.node_of_rank[rank] : 0;
}

std::uint32_t rank_on_node(const Start& job, std::uint32_t rank) {
  if (rank >= job.node_of_rank.size()) return rank;
  const auto begin = job.node_of_rank.begin();
  return static_cast<std::uint32_t>(std::count(begin, begin + rank, job.node_of_rank[rank]));
}

std::uint32_t ranks_on_node_of(const Start& job, std::uint32_t rank) {
  if (rank >= job.node_of_rank.size()) return job.rank_count;
  return static_cast<std::uint32_t>(
      std::count(job.node_of_rank.begin(), job.node_of_rank.end(), job.node_of_rank[rank]));
}

std::vector<std::string> hosts_of_ranks(const Start& job) {
  std::vector<std::string> hosts;
  for (const std::uint32_t node : job.node_of_rank) hosts.push_back(job.nodes[node].name);
  return hosts;
}

}  // namespace control

template class StreamDecoder<control::Message>;

}  // namespace llamada::launcher
