#pragma once

#include <cstdint>
#include <string>

namespace llamada::tools {

/// `llamada drain JOB NODE`: the ranks of the node go on elsewhere. Returns the exit code.
int drain(const std::string& job, const std::string& node);
/// `llamada migrate JOB RANK NODE`: the rank goes on on the node. Returns the exit code.
int migrate(const std::string& job, std::uint32_t rank, const std::string& node);

}  // namespace llamada::tools
