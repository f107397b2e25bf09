#pragma once

#include <chrono>
#include <string>

#include "llamada/base/result.hpp"

namespace llamada::llamanet {

/// Asks the driver of a job for a failure, by a rule of mpirun's --inject (docs/injection.md); or to move
/// ranks, by a text of launcher/src/job_moves.hpp. Returns the rule with the seed that was drawn for it, or
/// what will happen. Errors: invalid_argument (why the job does not do it), closed (no driver listens there),
/// permission_denied, timeout (the driver has not answered within the `patience`).
Result<std::string> inject(const std::string& socket_name, const std::string& rule,
                           std::chrono::milliseconds patience = std::chrono::seconds(5));

}  // namespace llamada::llamanet
