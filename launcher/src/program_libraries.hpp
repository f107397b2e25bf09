#pragma once

#include <string>
#include <vector>

namespace llamada::launcher {

/// What the dynamic loader says of the shared libraries of a program with this environment, started in this
/// directory (empty: the present one): a line for each, "libx.so.1 => /usr/lib/libx.so.1 (0x…)", or
/// "libx.so.1 => not found". Empty for a program that has none, or another loader than glibc's. Waits for the
/// loader, two seconds at most.
std::string list_libraries(const std::string& program, const std::vector<std::string>& environment,
                           const std::string& directory);

/// The first library of such a list that is missing; empty: none is. Pure.
std::string missing_library(const std::string& list);

}  // namespace llamada::launcher
