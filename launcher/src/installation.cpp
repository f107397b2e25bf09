#include "installation.hpp"

#include <unistd.h>

#include <algorithm>

namespace llamada::launcher {
namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

bool can_execute(const fs::path& path) { return is_file(path) && access(path.c_str(), X_OK) == 0; }

/// lib as the installation calls it: "lib", "lib64", "lib/x86_64-linux-gnu".
fs::path find_crash_point_library(const fs::path& prefix) {
  for (const char* lib : {"lib", "lib64", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu"})
    if (is_file(prefix / lib / "crash-points" / "libmpi.so.12")) return prefix / lib / "crash-points";
  return {};
}

}  // namespace

Result<Installation> find_installation() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error) return failure(Errc::not_found, "cannot find out where mpirun lies: {}", error.message());
  const fs::path bin = self.parent_path();
  Installation found;
  found.llamanetd = bin / "llamanetd";
  if (!can_execute(found.llamanetd))
    return failure(Errc::not_found, "{} is missing or cannot be executed; it belongs beside mpirun",
                   found.llamanetd.string());
  found.profile_directories = {bin.parent_path() / "share/llamada/qos-profiles"};
  found.crash_point_library_directory = find_crash_point_library(bin.parent_path());
  return found;
}

Result<fs::path> find_program(const std::string& name, const std::string& path,
                              const fs::path& working_directory) {
  std::vector<fs::path> candidates;
  if (name.find('/') != name.npos) {
    candidates.push_back(working_directory / name);
  } else {
    for (std::size_t at = 0; at <= path.size();) {
      const std::size_t end = std::min(path.find(':', at), path.size());
      candidates.push_back(working_directory / path.substr(at, end - at) / name);
      at = end + 1;
    }
    candidates.push_back(working_directory / name);
  }
  for (const fs::path& candidate : candidates)
    if (can_execute(candidate)) return candidate.lexically_normal();
  const auto there = std::find_if(candidates.begin(), candidates.end(), [](const fs::path& candidate) {
    std::error_code ignored;
    return fs::exists(candidate, ignored);
  });
  if (there != candidates.end())
    return failure(Errc::permission_denied, "the program {} cannot be executed",
                   there->lexically_normal().string());
  return failure(Errc::not_found, "there is no program '{}'{}", name,
                 name.find('/') == name.npos ? " in PATH or in the working directory" : "");
}

}  // namespace llamada::launcher
