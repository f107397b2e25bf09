#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace llamada::waits {

/// The command that prints the stacks of all threads of a process, with the whole path of its program:
/// eu-stack, or gdb. It stops the process for a moment. Empty: neither is in PATH.
std::vector<std::string> stack_command(std::int32_t pid);

/// What to say when it is empty.
inline constexpr const char* no_stack_command =
    "neither eu-stack nor gdb is installed: install elfutils or gdb to see the stack";
/// What to say when the command has failed.
inline constexpr const char* no_stack =
    "the stack cannot be read: the process has ended, or the system lets only its parent or root look "
    "(kernel.yama.ptrace_scope)";

}  // namespace llamada::waits
