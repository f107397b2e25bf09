#pragma once

#include <cstdint>

namespace llamada::llamanet {

/// A hash of the running kernel's boot id: the same for all drivers of one machine until it starts again,
/// containers included. 0: the kernel does not say.
std::uint64_t this_machine();

}  // namespace llamada::llamanet
