#include <algorithm>
#include <utility>

#include "job_coordinator.hpp"
#include "llamada/launcher/exit_codes.hpp"

// Ranks leave a node on purpose, by the road of a lost node: all ranks start again, and repeat what they had
// done.

namespace llamada::launcher {
namespace {

/// How much later than a node mpirun may get a signal that is for the whole job.
constexpr std::chrono::milliseconds whole_job_signal_max{1000};

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
        "PERSISTENT, as in --qos node-fault-tolerant",
        job_.profile_label);
  if (record_.recorder && record_.recorder->has_ended()) return "the record of the job is not complete";
  return obstacle_to_restart();
}

Result<std::string> JobCoordinator::answer_to(const MoveRequest& request) {
  return request.rank ? move_rank(*request.rank, request.host) : drain_host(request.host, "llamada drain");
}

/// Ends the recorder if it is still there. Errors: it cannot; the job is being ended then.
Status JobCoordinator::leave_record_to_move(const std::string& what) {
  const std::string why = record_.recorder ? leave_record() : std::string();
  if (why.empty()) return {};
  begin_ending(exit_launcher, fmt::format("mpirun: {}, but {}; the job is ended.\n", what, why));
  return failure(Errc::closed, "the job is ended, since {}", why);
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
  return drain_host(nodes, name, asked_by);
}

Result<std::string> JobCoordinator::drain_host(const std::vector<std::uint32_t>& nodes,
                                               const std::string& name, const std::string& asked_by) {
  control::Start after = job_;
  std::vector<std::uint32_t> left = restart_.left;
  left.insert(left.end(), nodes.begin(), nodes.end());
  if (!replace_nodes(after, left, own_llamanetd()))
    return failure(Errc::not_found, "no other node of the job has room for the ranks of '{}'", name);
  if (auto status = leave_record_to_move(fmt::format("the node '{}' is to be drained", name)); !status)
    return propagate(status);
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

/// The answer to whoever has asked. Errors: as those of drain_host().
Result<std::string> JobCoordinator::move_rank(std::uint32_t rank, const std::string& host) {
  if (const std::string obstacle = obstacle_to_move(); !obstacle.empty())
    return failure(Errc::unsupported, "{}", obstacle);
  if (rank >= job_.rank_count)
    return failure(Errc::not_found, "the job has only the ranks 0 to {}", job_.rank_count - 1);
  const std::uint32_t node = control::node_of(job_, rank);
  if (job_.nodes[node].name == host)
    return failure(Errc::already_exists, "rank {} runs on '{}' already", rank, host);
  if (restart_.is_on) return failure(Errc::would_block, "the ranks are just starting again: try again");
  if (std::ranges::count(job_.node_of_rank, node) > 1)
    return failure(Errc::unsupported,
                   "rank {} shares the node '{}' with other ranks, and ranks that share a node must stay "
                   "together; llamada drain moves all of them",
                   rank, job_.nodes[node].name);
  control::Start after = job_;
  NodeMove move{node, host};
  if (auto status = move_node(after, move, own_llamanetd()); !status) return propagate(status);
  if (auto status = leave_record_to_move(fmt::format("rank {} is to move to '{}'", rank, host)); !status)
    return propagate(status);
  say(
      fmt::format("mpirun: rank {} moves to the node '{}' (llamada migrate); all ranks are stopped, to start "
                  "again.\n",
                  rank, host));
  restart_.moves.push_back(std::move(move));
  stop_to_start_again({});
  return fmt::format("Rank {} moves to the node '{}': all ranks start again.", rank, host);
}

// A node that is sent SIGTERM is left before it is gone, unless the whole job is sent it: then mpirun gets
// it, too.

void JobCoordinator::on(node::NodeStopping&& message) {
  const bool can_move = !ending_code_ || restart_.is_on;
  if (!can_move || (!record_.recorder && !record_.store)) return;
  restart_.stopping.push_back(job_.nodes.at(message.node).name);
  if (restart_.is_on) return drain_stopping_nodes();
  loop_.after(whole_job_signal_max, [this] { drain_stopping_nodes(); });
}

void JobCoordinator::drain_stopping_nodes() {
  for (const std::string& name : std::exchange(restart_.stopping, {})) {
    if (const auto done = drain_host(name, "SIGTERM"); !done && done.error().code() != Errc::already_exists)
      say(fmt::format("mpirun: the node '{}' was sent SIGTERM, but its ranks stay there: {}.\n", name,
                      done.error().text()));
  }
}

}  // namespace llamada::launcher
