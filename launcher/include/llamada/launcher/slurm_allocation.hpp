#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "llamada/base/result.hpp"
#include "llamada/launcher/host_list.hpp"

namespace llamada::launcher {

/// What Slurm tells a job of its allocation, as variables of the environment; empty: not set.
struct SlurmAllocation {
  std::string nodes;           ///< SLURM_JOB_NODELIST: "n[01-04,7],m3"
  std::string tasks_per_node;  ///< SLURM_TASKS_PER_NODE: "4(x3),2"
  std::string cpus_per_node;   ///< SLURM_JOB_CPUS_PER_NODE, in the same way
  std::string own_node;        ///< SLURMD_NODENAME: what Slurm calls this machine
};

/// The hosts of a list in Slurm's spelling, in its order: "rack[0-1]n[1-3]" are six. Pure. Errors:
/// invalid_argument, in one sentence without the variable's name.
Result<std::vector<std::string>> parse_slurm_nodes(std::string_view text);

/// The hosts of an allocation, each with as many slots as Slurm has planned tasks there; where it has planned
/// none, one for each CPU. Pure. Errors: invalid_argument, in one sentence that names the variable.
Result<std::vector<HostEntry>> hosts_of_slurm(const SlurmAllocation& allocation);

}  // namespace llamada::launcher
