#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "llamada/base/file_descriptor.hpp"

namespace llamada::launcher {

/// A descriptor that is readable once the process is dead. Empty where the kernel has none to give.
FileDescriptor open_pidfd(pid_t pid);
/// Whether the process of a pidfd is dead.
bool is_dead(int pidfd);
/// "was killed by SIGKILL", "ended with exit code 3".
std::string describe_end(int wait_status);
/// The sentence for a job whose mpirun is dead.
std::string mpirun_was_killed(pid_t mpirun);
/// Writes a text to standard error, all at once if possible.
void say(std::string_view text);

}  // namespace llamada::launcher
