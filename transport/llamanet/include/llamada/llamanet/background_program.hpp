#pragma once

#include <optional>
#include <string>
#include <vector>

#include "llamada/base/result.hpp"

namespace llamada::llamanet {

/// A program that runs as a process of its own: no child of the caller's, and in a session of its own.
struct BackgroundProgram {
  std::string program;
  std::vector<std::string> arguments;  ///< with the program's name first
  std::vector<int> descriptors;        ///< what it gets as 0, 1, 2 and so on, and no others; -1: /dev/null
  std::string directory;               ///< where it runs; empty: where the caller does
};

/// Starts it, with no signal blocked or ignored. The caller sees neither a child nor SIGCHLD. A program that
/// cannot be executed ends at once, so that its descriptors are closed. Errors: system.
Status start_in_background(const BackgroundProgram& background);

/// A program of Llamada's: beside this library, or in bin beside one of its folders; likewise for the
/// running program.
std::optional<std::string> find_own_program(const std::string& name);

}  // namespace llamada::llamanet
