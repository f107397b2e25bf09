#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace llamada::tools {

/// `llamada why JOB` and `llamada why rank N [JOB]`: prints whom all ranks of a job, or one of them, wait
/// for, the chain to the rank for which everybody waits, and the stack of that one. `job`: see choose_job().
/// Returns 0, or 2 if the job cannot be looked at.
int explain_job(const std::string& job, std::optional<std::uint32_t> rank);

}  // namespace llamada::tools
