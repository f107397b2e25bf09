#pragma once

#include <string>
#include <vector>

#include "llamada/base/result.hpp"

namespace llamada::tools {

/// A job of this user on this node.
struct FoundJob {
  std::string name;         ///< "job-…", as `llamada ls` shows it
  std::string socket_name;  ///< of its driver
};

/// All jobs that run now. Errors: as llamanet::find_drivers().
Result<std::vector<FoundJob>> find_jobs();

/// The job that `wanted` names: a name as `llamada ls` shows it, the beginning of one, or the process id of
/// its mpirun; empty: the only job that runs. Errors, each with a sentence for the user: not_found (there is
/// none), invalid_argument (there are several, which it lists).
Result<FoundJob> choose_job(const std::string& wanted);

}  // namespace llamada::tools
