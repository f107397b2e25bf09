#pragma once

#include <chrono>

namespace llamada::launcher {

/// For a test: all processes of the job on this node, this one among them, are stopped for so long, as those
/// of a virtual machine that is paused. A child of this process continues them, this one last. Without memory
/// for a child nothing happens. Must be called by a process with one thread.
void pause_node(std::chrono::nanoseconds length);

}  // namespace llamada::launcher
