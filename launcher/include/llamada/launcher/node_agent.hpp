#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "llamada/base/file_descriptor.hpp"
#include "llamada/launcher/adoption.hpp"
#include "llamada/launcher/job_arenas.hpp"
#include "llamada/launcher/last_word.hpp"

namespace llamada::launcher {

/// A node of a job on several, and where its coordinator is.
struct NodeIdentity {
  std::uint32_t node = 0;
  std::uint64_t job_number = 0;
  std::vector<std::string> coordinators;  ///< IP addresses of one host: those of its interfaces
  std::uint16_t port = 0;
};

/// What `llamanetd --node N …` does, which mpirun's agent has started: reads the job's secret (32 bytes) from
/// standard input, starts a guardian, and through it `llamanetd --drive-node …`, and waits. When standard
/// input ends, or this process is killed, everything that it has started is killed. `llamanetd` is the
/// program, `arguments` those of its that say who it is. Returns the exit code. Blocks all signals.
int run_node_agent(const std::string& llamanetd, const std::vector<std::string>& arguments);

/// What `llamanetd --drive-node …` does: reads the secret from `secret`, connects to the job's coordinator,
/// and is the parent of this node's ranks until the stream ends. Returns the exit code. One thread, the one
/// that must stay alive: the ranks die with it. With an adoption the ranks are no children of this process,
/// nothing stands above it, and the secret is written in hexadecimal digits.
int run_node_driver(const NodeIdentity& identity, FileDescriptor secret, const LastWord& last_word,
                    const ArenasFactory& make_arenas, Adoption adoption);

}  // namespace llamada::launcher
