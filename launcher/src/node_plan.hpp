#pragma once

#include <string>
#include <vector>

#include "llamada/launcher/job_control.hpp"
#include "llamada/launcher/options.hpp"
#include "llamada/launcher/slurm_allocation.hpp"

namespace llamada::launcher {

/// What mpirun knows of its own machine when it plans a job.
struct PlanningHost {
  std::string name;
  std::vector<std::string> addresses;
  std::string path;       ///< the value of PATH, where the agent's program is looked for
  std::string llamanetd;  ///< which lies at the same place on all hosts
  SlurmAllocation slurm;  ///< whose job mpirun is a part of
};

/// Where the ranks of a job run.
struct NodePlan {
  std::vector<control::Node> nodes;         ///< empty: all ranks run on this machine
  std::vector<std::uint32_t> node_of_rank;  ///< by rank; empty without nodes
  std::vector<control::Node> spares;        ///< hosts that are no nodes
};

/// The nodes that the options ask for, or else those of Slurm's allocation, and how each is started. All
/// names of this machine are one node, on which mpirun's own llamanetd starts the ranks, and which has its
/// host name. A host that no rank starts on is a node only if `may_spawn`: the ranks may start others there.
/// Errors, in one sentence: several lists of hosts, too few slots, no such launcher.
Result<NodePlan> plan_nodes(const Options& options, const PlanningHost& here, bool may_spawn = false);

/// A word as a POSIX shell reads it back. Pure.
std::string shell_word(const std::string& word);

}  // namespace llamada::launcher
