#pragma once

#include <cstdint>

// What one process can tell of another one.

namespace llamada::llamanet {

/// When the process began, in clock ticks since the machine's start: with its number it names a process for
/// good. 0: there is no such process, or /proc does not tell.
std::uint64_t start_of_process(std::uint32_t pid);

/// Whether the process of this pidfd has ended.
bool has_ended(int process);

}  // namespace llamada::llamanet
