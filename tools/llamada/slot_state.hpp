#pragma once

#include <string_view>

#include "llamada/llamanet/inspector.hpp"

namespace llamada::tools {

/// The state of a rank or participant in one word, the same in all commands and their JSON: "starting",
/// "attached" (in MPI_Init, or a participant), "running", "replaying" (running, and still repeating what its
/// predecessor did), "finalized", "exiting", "done", "dead".
std::string_view state_name(const llamanet::Inspector::Slot& slot);

}  // namespace llamada::tools
