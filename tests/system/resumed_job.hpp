#pragma once

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "job_process.hpp"
#include "node_agent_script.hpp"

// Jobs on several nodes that run tests/mpi/resumed.c, whose output depends on the order of messages and ends
// with a digest of itself.

namespace llamada::system_test {

inline pid_t parent_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  std::istringstream behind_name(text.substr(std::min(text.rfind(')') + 2, text.size())));
  char state = 0;
  pid_t parent = 0;
  behind_name >> state >> parent;
  return parent;
}

/// Those of one node: what its agent has started, and all below.
inline std::set<pid_t> processes_of_node(const Job& job, int node) {
  std::set<pid_t> found;
  const std::string word = "--node " + std::to_string(node) + " ";
  const auto all = job.processes();
  for (const Found& process : all)
    if (command_line(process.pid).find(word) != std::string::npos) found.insert(process.pid);
  for (std::size_t before = 0; before != found.size();) {
    before = found.size();
    for (const Found& process : all)
      if (found.contains(parent_of(process.pid))) found.insert(process.pid);
  }
  return found;
}

/// The words of an mpirun that runs tests/mpi/resumed.c on these hosts.
inline std::vector<std::string> job_of(const NodeAgentScript& agent, const std::string& hosts, int steps,
                                       const std::vector<std::string>& options = {}) {
  std::vector<std::string> words{"-n",
                                 "4",
                                 "-H",
                                 hosts,
                                 "--launcher-exec",
                                 agent.path(),
                                 "--qos",
                                 "node-fault-tolerant",
                                 "--report",
                                 agent.file("report")};
  words.insert(words.end(), options.begin(), options.end());
  for (const std::string& word : {std::string(LLAMADA_RESUMED), std::to_string(steps), std::string("1000")})
    words.push_back(word);
  return words;
}

/// Whether the last line is the digest of the others, of so many steps with three messages each.
inline bool is_whole(const std::string& output, int steps) {
  const std::size_t last = output.rfind("digest ");
  if (last == std::string::npos) return false;
  std::uint32_t digest = 2166136261U;
  int lines = 0;
  for (const char each : output.substr(0, last)) {
    digest = (digest ^ static_cast<unsigned char>(each)) * 16777619U;
    lines += each == '\n';
  }
  return lines == 3 * steps && output.substr(last) == "digest " + std::to_string(digest) + "\n";
}

inline int lines_in(const std::string& text) {
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

inline bool says(const Job& job, const std::string& words) {
  return job.errors().find(words) != std::string::npos;
}

}  // namespace llamada::system_test
