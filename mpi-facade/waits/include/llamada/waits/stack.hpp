#pragma once

#include <sys/types.h>

#include <cstdint>

#include "llamada/base/result.hpp"

namespace llamada::waits {

/// Starts the command that prints the stacks of all threads of a process: eu-stack, or gdb. It stops the
/// process for a moment, prints to `output`, has no input, says no errors and has no signals blocked. Gives
/// the child, which the caller reaps. Errors, each with a sentence for the user: not_found (neither is in
/// PATH), system.
Result<pid_t> start_stack_command(std::int32_t pid, int output);

/// What to say when the command has failed.
inline constexpr const char* no_stack =
    "the stack cannot be read: the process has ended, or the system lets only its parent or root look "
    "(kernel.yama.ptrace_scope)";

}  // namespace llamada::waits
