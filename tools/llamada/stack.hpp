#pragma once

#include <cstdint>

#include "llamada/base/result.hpp"

namespace llamada::tools {

/// Prints the stacks of all threads of a process to standard output, by eu-stack or gdb: the process is
/// stopped for a moment. Errors: not_found (neither is installed), permission_denied (the system does not
/// let this user look), with a sentence that says what to do.
Status print_stack(std::int32_t pid);

}  // namespace llamada::tools
