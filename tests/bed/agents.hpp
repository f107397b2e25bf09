#pragma once

#include <string>
#include <vector>

#include "control.hpp"

// What sshd and ssh are for real hosts. A program in a node cannot enter another node: it asks a server that
// stands beside the bed, by a socket in the file system, which all nodes share.

namespace llamada::bed {

/// Runs commands in nodes for run_by_agent(), until the process that has started this one ends. A command is
/// killed when its run_by_agent() ends. Returns only with an error.
Status serve_agents(const BedName& bed, const std::string& path);

/// Runs a command in a node ("1" or "node1") by the server at `path`, with this process's standard streams
/// and the server's environment. Words hold no line ends. Gives its exit status. Errors: not_found (no
/// server), closed.
Result<int> run_by_agent(const std::string& path, const std::string& node,
                         const std::vector<std::string>& command);

}  // namespace llamada::bed
