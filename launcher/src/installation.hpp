#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "llamada/base/result.hpp"

namespace llamada::launcher {

/// Where what mpirun needs lies: in a build folder and in an installation at the same places from mpirun
/// itself.
struct Installation {
  std::filesystem::path llamanetd;                         ///< bin/llamanetd
  std::vector<std::filesystem::path> profile_directories;  ///< share/llamada/qos-profiles
  std::filesystem::path crash_point_library_directory;     ///< lib/crash-points; empty if there is none
};

/// Found from the place of the running program. Errc::not_found if there is no llamanetd.
Result<Installation> find_installation();

/// The file that a person means by the program's name: with a '/' it is a path, else it is looked for in PATH
/// and then in the working directory. `path` is the value of PATH. Errc::not_found, or
/// Errc::permission_denied if it is there and cannot be executed.
Result<std::filesystem::path> find_program(const std::string& name, const std::string& path,
                                           const std::filesystem::path& working_directory);

/// Nothing when it has been removed or cannot be reached.
std::optional<std::filesystem::path> current_directory();

/// Where the ranks run: `wanted` below mpirun's own working directory, or that. Errors: not_found.
Result<std::filesystem::path> directory_for_ranks(const std::optional<std::string>& wanted);

/// Whether the kernel cannot execute the file because it is a text that does not begin with "#!". Shells, and
/// execvp(), give such a file to /bin/sh.
bool needs_shell(const std::filesystem::path& program);

/// Makes such a program an argument of /bin/sh. `arguments` begin with the program's name.
void through_shell_if_needed(std::string& program, std::vector<std::string>& arguments);

}  // namespace llamada::launcher
