#include "installation.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace llamada::launcher {
namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

bool can_execute(const fs::path& path) { return is_file(path) && access(path.c_str(), X_OK) == 0; }

constexpr const char* shell = "/bin/sh";

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
  if (error) return failure(Errc::not_found, "mpirun cannot find its own file: {}", error.message());
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
  // A part of a path would be taken for the folders of PATH themselves.
  if (name.empty()) return failure(Errc::not_found, "the name of the program is empty");
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
  if (const auto there = std::find_if(candidates.begin(), candidates.end(), is_file);
      there != candidates.end())
    return failure(Errc::permission_denied,
                   "the program {} cannot be executed: it is not marked as executable (chmod +x)",
                   there->lexically_normal().string());
  if (std::error_code ignored; name.find('/') != name.npos && fs::exists(candidates[0], ignored))
    return failure(Errc::permission_denied, "{} cannot be executed: it is {}",
                   candidates[0].lexically_normal().string(),
                   fs::is_directory(candidates[0], ignored) ? "a folder" : "not a regular file");
  return failure(Errc::not_found, "there is no program '{}'{}", name,
                 name.find('/') == name.npos ? " in PATH or in the working directory" : "");
}

std::optional<fs::path> current_directory() {
  std::error_code error;
  fs::path here = fs::current_path(error);
  return error ? std::nullopt : std::optional(std::move(here));
}

Result<fs::path> directory_for_ranks(const std::optional<std::string>& wanted) {
  const bool is_absolute = wanted && fs::path(*wanted).is_absolute();
  const auto here = current_directory();
  if (!here && !is_absolute)
    return failure(Errc::not_found,
                   "the working directory of mpirun no longer exists, or cannot be reached; change to "
                   "another one, or give one that begins with '/' (-wdir)");
  const fs::path directory = is_absolute ? fs::path(*wanted) : wanted ? *here / *wanted : *here;
  if (std::error_code ignored; !fs::is_directory(directory, ignored))
    return failure(Errc::not_found, "the directory '{}' (-wdir) does not exist", directory.string());
  return directory;
}

bool needs_shell(const fs::path& program) {
  std::ifstream file(program, std::ios::binary);
  char begin[256];
  file.read(begin, sizeof begin);
  const std::string_view text(begin, static_cast<std::size_t>(file.gcount()));
  return !file.bad() && !text.starts_with("#!") && text.find('\0') == text.npos && !text.empty();
}

void through_shell_if_needed(std::string& program, std::vector<std::string>& arguments) {
  if (!needs_shell(program)) return;
  arguments[0] = program;
  arguments.insert(arguments.begin(), shell);
  program = shell;
}

}  // namespace llamada::launcher
