#include "core_file.hpp"

#include <fmt/format.h>
#include <glob.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace llamada::launcher {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t command_name_max = 15;  // TASK_COMM_LEN - 1

std::string literal(std::string_view text) {
  std::string escaped;
  for (const char character : text) {
    if (std::string_view("*?[]\\").find(character) != std::string_view::npos) escaped += '\\';
    escaped += character;
  }
  return escaped;
}

/// As the kernel writes names into one: a folder in it would be taken for one of the path.
std::string without_slashes(std::string text) {
  std::replace(text.begin(), text.end(), '/', '!');
  return text;
}

std::string expand(char letter, const CoreOwner& owner) {
  switch (letter) {
    case '%':
      return "%";
    case 'p':
    case 'P':
      return std::to_string(owner.pid);
    case 'u':
      return std::to_string(getuid());
    case 'g':
      return std::to_string(getgid());
    case 's':
      return std::to_string(owner.signal);
    case 'h':
      return literal(without_slashes(owner.host));
    case 'e':
    case 'f':
      return literal(fs::path(owner.program).filename().string().substr(0, command_name_max));
    case 'E':
      return literal(without_slashes(owner.program));
    case 'i':  // threads, the time, limits, modes, cores
    case 'I':
    case 't':
    case 'c':
    case 'd':
    case 'C':
    case 'F':
      return "*";
    default:
      return {};  // the kernel drops what it does not know
  }
}

std::string first_line(const char* path) {
  std::string line;
  std::getline(std::ifstream(path), line);
  return line;
}

}  // namespace

std::string core_glob(std::string_view core_pattern, bool core_uses_pid, const CoreOwner& owner) {
  if (core_pattern.empty() || core_pattern.front() == '|') return {};
  std::string glob;
  bool has_pid = false;
  for (std::size_t at = 0; at < core_pattern.size(); ++at) {
    if (core_pattern[at] != '%') {
      glob += literal(core_pattern.substr(at, 1));
      continue;
    }
    if (++at == core_pattern.size()) break;
    has_pid |= core_pattern[at] == 'p';
    glob += expand(core_pattern[at], owner);
  }
  if (core_uses_pid && !has_pid) glob += "." + std::to_string(owner.pid);
  return glob;
}

std::string newest_core(const std::string& glob_pattern, const CoreOwner& owner) {
  if (glob_pattern.empty()) return {};
  std::error_code ignored;
  const fs::path folder = owner.directory.empty() ? fs::current_path(ignored) : fs::path(owner.directory);
  const std::string whole =
      glob_pattern.front() == '/' ? glob_pattern : literal(folder.string()) + "/" + glob_pattern;
  glob_t found{};
  fs::path newest;
  // The clocks of files tick more coarsely than ours.
  auto newest_time = fs::file_time_type::clock::now() -
                     std::chrono::duration_cast<fs::file_time_type::duration>(owner.age) -
                     std::chrono::seconds(1);
  if (glob(whole.c_str(), GLOB_NOSORT, nullptr, &found) == 0)
    for (std::size_t i = 0; i < found.gl_pathc; ++i) {
      std::error_code gone;
      const auto time = fs::last_write_time(found.gl_pathv[i], gone);
      if (gone || time < newest_time) continue;
      newest = found.gl_pathv[i];
      newest_time = time;
    }
  globfree(&found);
  return newest.string();
}

std::string find_core_file(const CoreOwner& owner) {
  const bool uses_pid = first_line("/proc/sys/kernel/core_uses_pid") == "1";
  return newest_core(core_glob(first_line("/proc/sys/kernel/core_pattern"), uses_pid, owner), owner);
}

}  // namespace llamada::launcher
