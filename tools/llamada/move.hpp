#pragma once

#include <string>

namespace llamada::tools {

/// `llamada drain JOB NODE`: the ranks of the node go on elsewhere. Returns the exit code.
int drain(const std::string& job, const std::string& node);

}  // namespace llamada::tools
