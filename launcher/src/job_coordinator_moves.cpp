#include <algorithm>
#include <utility>

#include "job_coordinator.hpp"
#include "llamada/launcher/exit_codes.hpp"

// Ranks leave a node on purpose, by the road of a lost node: all ranks start again, and repeat what they had
// done.

namespace llamada::launcher {
namespace {

/// The hosts of these nodes, each once: "b, c".
std::string names_of(const control::Start& job, const std::vector<std::uint32_t>& nodes) {
  std::vector<std::string> names;
  for (const std::uint32_t node : nodes)
    if (std::ranges::find(names, job.nodes[node].name) == names.end()) names.push_back(job.nodes[node].name);
  std::string text;
  for (const std::string& name : names) text += fmt::format("{}'{}'", text.empty() ? "" : ", ", name);
  return text;
}

std::vector<std::uint32_t> ranks_on(const control::Start& job, const std::vector<std::uint32_t>& nodes) {
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t rank = 0; rank < job.node_of_rank.size(); ++rank)
    if (std::ranges::find(nodes, job.node_of_rank[rank]) != nodes.end()) ranks.push_back(rank);
  return ranks;
}

}  // namespace

/// Why no rank can go on elsewhere; empty: they can.
std::string JobCoordinator::obstacle_to_move() const {
  if (finished_ || (ending_code_ && !restart_.is_on)) return "the job is ending";
  if (job_.nodes.empty()) return "the job runs on one node, and its ranks cannot leave it";
  if (!record_.recorder && !record_.store)
    return fmt::format(
        "under the profile '{}', ranks cannot go on elsewhere: that needs DURABILITY TRANSIENT or "
        "PERSISTENT, "
        "as in --qos node-fault-tolerant",
        job_.profile_label);
  if (record_.recorder && record_.recorder->has_ended()) return "the record of the job is not complete";
  return obstacle_to_restart();
}

Result<std::string> JobCoordinator::answer_to(const MoveRequest& request) {
  return drain_host(request.host, "llamada drain");
}

/// The answer to whoever has asked. Errors: why the ranks stay where they are, in a sentence.
Result<std::string> JobCoordinator::drain_host(const std::string& name, const std::string& asked_by) {
  if (const std::string obstacle = obstacle_to_move(); !obstacle.empty())
    return failure(Errc::unsupported, "{}", obstacle);
  if (std::erase_if(job_.spares, [&name](const control::Node& spare) { return spare.name == name; }) > 0) {
    report_.drained_nodes.push_back({name, asked_by, {}});
    return fmt::format("The spare node '{}' is drained: no rank runs there, and none will.", name);
  }
  const std::vector<std::uint32_t> nodes = nodes_on_host(job_, name);
  if (nodes.empty())
    return failure(Errc::not_found, "the job has no node '{}'; there are {}", name, hosts_text(job_));
  if (std::ranges::find(restart_.left, nodes.front()) != restart_.left.end())
    return failure(Errc::already_exists, "the ranks of the node '{}' are leaving it already", name);
  control::Start after = job_;
  std::vector<std::uint32_t> left = restart_.left;
  left.insert(left.end(), nodes.begin(), nodes.end());
  if (!replace_nodes(after, left, own_llamanetd()))
    return failure(Errc::not_found, "no other node of the job has room for the ranks of '{}'", name);
  if (record_.recorder)
    if (const std::string why = leave_record(); !why.empty()) {
      begin_ending(exit_launcher, fmt::format("mpirun: the node '{}' cannot be drained, since {}; the job is "
                                              "ended.\n",
                                              name, why));
      return failure(Errc::closed, "the job is ended, since {}", why);
    }
  const std::string where = names_of(after, nodes);
  say(fmt::format(
      "mpirun: the node '{}' is drained ({}); all ranks are stopped, to start again, those of '{}' "
      "on {}.\n",
      name, asked_by, name, where));
  report_.drained_nodes.push_back({name, asked_by, ranks_on(job_, nodes)});
  stop_to_start_again(nodes);
  return fmt::format("The node '{}' is drained: all ranks start again, those of '{}' on {}.", name, name,
                     where);
}

}  // namespace llamada::launcher
