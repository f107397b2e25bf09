#include "node_plan.hpp"

#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "installation.hpp"

namespace llamada::launcher {
namespace {

std::vector<std::string> words_of(const std::string& text) {
  if (access(text.c_str(), X_OK) == 0) return {text};  // a path with blanks in it
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

/// What starts a process on another host.
struct Agent {
  std::vector<std::string> words;  ///< its program and first arguments; none: processes are started here
  bool is_srun = false;
};

std::string launcher_of(const NodeOptions& options, const PlanningHost& here) {
  if (!options.launcher_exec.empty()) return {};
  if (!options.launcher.empty()) return options.launcher;
  return here.slurm.nodes.empty() ? "ssh" : "srun";
}

Result<Agent> agent_of(const NodeOptions& options, const PlanningHost& here) {
  Agent agent;
  const std::string launcher = launcher_of(options, here);
  if (launcher.empty())
    agent.words = words_of(options.launcher_exec);
  else if (launcher == "fork")
    return agent;
  else if (launcher == "ssh")
    agent.words = {"ssh", "-o", "BatchMode=yes"};
  else if (launcher == "srun")
    // One task of the job's own, beside what else runs there, on all of its CPUs; a node that fails ends
    // nothing.
    agent = {{"srun", "--nodes=1", "--ntasks=1", "--overlap", "--mpi=none", "--cpu-bind=quiet,none",
              "--no-kill", "--kill-on-bad-exit=0", "--quiet"},
             true};
  else
    return failure(Errc::unsupported,
                   "--launcher must be ssh, srun or fork, not '{}'; --launcher-exec takes a program that is "
                   "called like ssh",
                   launcher);
  if (agent.words.empty()) return failure(Errc::invalid_argument, "--launcher-exec names no program");
  auto program = find_program(agent.words[0], here.path, current_directory().value_or("/"));
  if (!program)
    return failure(
        program.error().code(),
        "mpirun cannot start processes on other hosts: {}; name another program with --launcher-exec",
        program.error().text());
  agent.words[0] = program->string();
  return agent;
}

bool is_here(const std::string& host, const PlanningHost& here) {
  return is_this_host(host, here.name, here.addresses) || (!host.empty() && host == here.slurm.own_node);
}

control::Node node_of(const HostEntry& entry, const NodeOptions& options, const Agent& agent,
                      const PlanningHost& here) {
  const std::string& host = entry.name;
  control::Node node{
      host, {}, slots_of(entry, options.ranks_per_node), entry.max_slots.value_or(0), entry.place};
  if (is_here(host, here)) return node.name = here.name, node;
  node.agent = agent.words;
  if (agent.is_srun) node.agent.push_back("--nodelist=" + host);
  if (agent.is_srun || agent.words.empty()) return node.agent.push_back(here.llamanetd), node;
  node.agent.push_back(host);
  node.agent.push_back(shell_word(here.llamanetd));
  return node;
}

/// With hosts on which no rank starts, if ranks may be spawned there.
Result<Placement> place(const std::vector<HostEntry>& hosts, const PlacementRequest& request,
                        bool with_idle_hosts) {
  if (!with_idle_hosts) return place_ranks(hosts, request);
  auto dealt = deal_ranks(hosts, request);
  if (!dealt) return propagate(dealt);
  Placement placement;
  for (const HostEntry& host : hosts) placement.hosts.push_back(host.name);
  placement.of_rank = std::move(*dealt);
  return placement;
}

}  // namespace

std::string shell_word(const std::string& word) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  if (!word.empty() && word.find_first_not_of(plain) == word.npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

Result<NodePlan> plan_nodes(const Options& options, const PlanningHost& here, bool may_spawn) {
  auto lists = options.nodes.host_lists;
  if (lists.empty() && !here.slurm.nodes.empty()) {
    auto hosts = hosts_of_slurm(here.slurm);
    if (!hosts) return propagate(hosts);
    lists.push_back(std::move(*hosts));
  }
  const auto is_entry_here = [&here](const HostEntry& host) { return is_here(host.name, here); };
  const bool all_here = std::all_of(lists.begin(), lists.end(), [&is_entry_here](const auto& list) {
    return std::all_of(list.begin(), list.end(), is_entry_here);
  });
  if (all_here) return NodePlan();
  if (std::any_of(lists.begin(), lists.end(), [&lists](const auto& list) { return list != lists.front(); }))
    return failure(Errc::unsupported,
                   "all programs of a job share one list of hosts: give --host or --hostfile only once");
  const auto all = as_one_host(lists.front(), is_entry_here);
  if (options.nodes.spare_count >= all.size())
    return failure(Errc::invalid_argument, "--spares {} leaves no host for the ranks: only {} are named",
                   options.nodes.spare_count, all.size());
  const std::vector<HostEntry> hosts(all.begin(), all.end() - options.nodes.spare_count);
  PlacementRequest request{options.rank_count, options.nodes.order, options.nodes.oversubscribe,
                           options.nodes.ranks_per_node};
  if (options.nodes.only_checked) {
    request.rank_count = static_cast<std::uint32_t>(hosts.size());
    request.ranks_per_node = 1;
  }
  auto placement = place(hosts, request, may_spawn && !options.nodes.only_checked);
  if (!placement) return propagate(placement);
  auto agent = agent_of(options.nodes, here);
  if (!agent) return propagate(agent);
  NodePlan plan;
  for (const std::string& host : placement->hosts) {
    const auto entry = std::ranges::find(hosts, host, &HostEntry::name);
    plan.nodes.push_back(node_of(*entry, options.nodes, *agent, here));
  }
  if (plan.nodes.size() == 1 && plan.nodes[0].agent.empty()) return NodePlan();
  for (const HostEntry& entry : all)
    if (std::ranges::find(placement->hosts, entry.name) == placement->hosts.end() &&
        !options.nodes.only_checked)
      plan.spares.push_back(node_of(entry, options.nodes, *agent, here));
  plan.node_of_rank = std::move(placement->of_rank);
  return plan;
}

}  // namespace llamada::launcher
