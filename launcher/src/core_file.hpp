#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <string_view>

namespace llamada::launcher {

/// A process that dumped core.
struct CoreOwner {
  pid_t pid = 0;
  int signal = 0;
  std::string host;
  std::string program;           ///< its path
  std::string directory;         ///< where it was started; empty: where this process is
  std::chrono::nanoseconds age;  ///< how long ago it was started
};

/// What the kernel makes of a core_pattern (core(5)), as a pattern of glob(7), relative to the owner's
/// folder: what cannot be known from outside (the time, the thread) is a '*'. Empty when cores are piped to a
/// program.
std::string core_glob(std::string_view core_pattern, bool core_uses_pid, const CoreOwner& owner);

/// The path of the newest core file that fits, and is younger than its owner; empty if there is none, as when
/// the program had gone to another folder.
std::string newest_core(const std::string& glob_pattern, const CoreOwner& owner);

/// The two together, with the node's settings.
std::string find_core_file(const CoreOwner& owner);

}  // namespace llamada::launcher
