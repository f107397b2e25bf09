#include "llamada/launcher/memory_group.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace llamada::launcher {
namespace {

namespace fs = std::filesystem;

/// The number of a file that has one number; nothing for "max".
std::optional<std::uint64_t> number_in(const fs::path& file) {
  std::uint64_t number = 0;
  std::ifstream text(file);
  return text >> number ? std::optional(number) : std::nullopt;
}

/// The number behind `name` in a file of lines "name number".
std::optional<std::uint64_t> number_behind(const fs::path& file, std::string_view name) {
  std::ifstream lines(file);
  std::string word;
  for (std::uint64_t number = 0; lines >> word >> number;)
    if (word == name) return number;
  return std::nullopt;
}

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

}  // namespace

MemoryGroup MemoryGroup::own() {
  std::stringstream text;
  text << std::ifstream("/proc/self/cgroup").rdbuf();
  return of(text.str(), "/sys/fs/cgroup");
}

MemoryGroup MemoryGroup::of(const std::string& proc_cgroup, const std::string& root) {
  MemoryGroup group;
  std::istringstream lines(proc_cgroup);
  for (std::string line; std::getline(lines, line);) {
    // "4:memory:/path" of version 1, "0::/path" of version 2.
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool is_first = controllers.find(",memory,") != controllers.npos;
    if (!is_first && (controllers != ",," || !group.folder_.empty())) continue;
    const std::string groups = is_first ? root + "/memory" : root;
    // A container may see its own group as the root of all.
    const std::string folder =
        is_folder(groups + line.substr(second + 1)) ? groups + line.substr(second + 1) : groups;
    if (!is_folder(folder)) continue;
    group.root_ = groups;
    group.folder_ = folder;
    group.is_first_version_ = is_first;
  }
  return group;
}

std::uint64_t MemoryGroup::oom_kills() const {
  if (folder_.empty()) return 0;
  return number_behind(folder_ + (is_first_version_ ? "/memory.oom_control" : "/memory.events"), "oom_kill")
      .value_or(0);
}

std::optional<std::uint64_t> MemoryGroup::limit_bytes() const {
  // Version 1 says "no limit" by a number that no machine has.
  constexpr std::uint64_t no_limit = std::uint64_t{1} << 60;
  std::optional<std::uint64_t> lowest;
  const char* file = is_first_version_ ? "memory.limit_in_bytes" : "memory.max";
  for (fs::path group = folder_; group.string().size() >= root_.size() && !folder_.empty();
       group = group.parent_path())
    if (const auto limit = number_in(group / file); limit && *limit < no_limit)
      lowest = std::min(lowest.value_or(*limit), *limit);
  return lowest;
}

std::optional<std::uint64_t> MemoryGroup::available_bytes() const {
  const auto limit = limit_bytes();
  if (!limit) return std::nullopt;
  const fs::path folder = folder_;
  const auto used = number_in(folder / (is_first_version_ ? "memory.usage_in_bytes" : "memory.current"));
  const auto caches =
      number_behind(folder / "memory.stat", is_first_version_ ? "total_inactive_file" : "inactive_file");
  const std::uint64_t taken = used.value_or(0) - std::min(used.value_or(0), caches.value_or(0));
  return *limit - std::min(*limit, taken);
}

}  // namespace llamada::launcher
