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

/// The program that is called with a host and a command, and its own first arguments. Empty: processes are
/// started on this machine, whatever the host is called.
Result<std::vector<std::string>> agent_of(const NodeOptions& options, const PlanningHost& here) {
  std::vector<std::string> words;
  if (!options.launcher_exec.empty())
    words = words_of(options.launcher_exec);
  else if (options.launcher == "fork")
    return words;
  else if (options.launcher.empty() || options.launcher == "ssh")
    words = {"ssh", "-o", "BatchMode=yes"};
  else
    return failure(Errc::unsupported,
                   "--launcher knows ssh and fork, and not '{}'; --launcher-exec takes a program that is "
                   "called like ssh",
                   options.launcher);
  if (words.empty()) return failure(Errc::invalid_argument, "--launcher-exec names no program");
  auto program = find_program(words[0], here.path, current_directory().value_or("/"));
  if (!program)
    return failure(program.error().code(), "the agent for other hosts: {}; --launcher-exec names another one",
                   program.error().text());
  words[0] = program->string();
  return words;
}

control::Node node_of(const std::string& host, const std::vector<std::string>& agent,
                      const PlanningHost& here) {
  control::Node node{host, {}};
  if (is_this_host(host, here.name, here.addresses)) return node.name = here.name, node;
  node.agent = agent;
  if (agent.empty()) return node.agent = {here.llamanetd}, node;
  node.agent.push_back(host);
  node.agent.push_back(shell_word(here.llamanetd));
  return node;
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

Result<NodePlan> plan_nodes(const Options& options, const PlanningHost& here) {
  const auto& lists = options.nodes.host_lists;
  const auto is_here = [&here](const HostEntry& host) {
    return is_this_host(host.name, here.name, here.addresses);
  };
  const bool all_here = std::all_of(lists.begin(), lists.end(), [&is_here](const auto& list) {
    return std::all_of(list.begin(), list.end(), is_here);
  });
  if (all_here) return NodePlan();
  if (std::any_of(lists.begin(), lists.end(), [&lists](const auto& list) { return list != lists.front(); }))
    return failure(
        Errc::unsupported,
        "the hosts of a job are one list, for all of its programs: give --host or a host file, once");
  const auto hosts = as_one_host(lists.front(), is_here);
  auto placement = place_ranks(hosts, {options.rank_count, options.nodes.order, options.nodes.oversubscribe,
                                       options.nodes.ranks_per_node});
  if (!placement) return propagate(placement);
  auto agent = agent_of(options.nodes, here);
  if (!agent) return propagate(agent);
  NodePlan plan;
  for (const std::string& host : placement->hosts) plan.nodes.push_back(node_of(host, *agent, here));
  if (plan.nodes.size() == 1 && plan.nodes[0].agent.empty()) return NodePlan();
  plan.node_of_rank = std::move(placement->of_rank);
  return plan;
}

}  // namespace llamada::launcher
