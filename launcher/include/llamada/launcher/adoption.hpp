#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string_view>

#include "llamada/base/file_descriptor.hpp"
#include "llamada/base/result.hpp"

namespace llamada::launcher {

/// What llamanetd is told of a node whose ranks another launcher has started (srun, by PMI-1): see
/// docs/internals/job-control.md, "Adopted ranks".
struct Adoption {
  std::map<std::uint32_t, pid_t> processes;  ///< by slot; empty: llamanetd starts its ranks itself
  FileDescriptor report;   ///< a pipe to the first rank of the node; both ends live as long as we do
  FileDescriptor manager;  ///< the other launcher's socket to that rank, which is only watched for its end
};

/// "0:1234,1:1235". Errors: parse_error.
Result<std::map<std::uint32_t, pid_t>> parse_adopted(std::string_view text);

}  // namespace llamada::launcher
