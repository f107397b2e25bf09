#include "interpose/whereabouts.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "interpose/file_calls.hpp"

namespace llamada::mpi::interpose {
namespace {

struct Whereabouts {
  std::unordered_map<std::uint64_t, std::vector<std::string>> names;  ///< absolute ones
  std::unordered_set<std::uint64_t> removed;
  std::unordered_set<std::uint64_t> changed;
};

Whereabouts& whereabouts() {
  static auto* all = new Whereabouts;  // For handlers at exit, too.
  return *all;
}

std::string absolute(int folder, const char* path) {
  if (path[0] == '/') return path;
  const std::string link =
      folder == AT_FDCWD ? std::string("/proc/self/cwd") : fmt::format("/proc/self/fd/{}", folder);
  char text[PATH_MAX];
  const long length = syscall(SYS_readlinkat, AT_FDCWD, link.c_str(), text, sizeof text);
  return length < 0 ? path : std::string(text, static_cast<std::size_t>(length)) + "/" + path;
}

}  // namespace

void note_created(std::uint64_t file) {
  whereabouts().names.erase(file);
  whereabouts().removed.erase(file);
  whereabouts().changed.erase(file);
}

void note_name(std::uint64_t file, int folder, const char* path) {
  whereabouts().names[file].push_back(absolute(folder, path));
}

void note_rename(int from, const char* old_path, int to, const char* path) {
  if (whereabouts().names.empty()) return;
  const std::string before = absolute(from, old_path), after = absolute(to, path);
  for (auto& [file, names] : whereabouts().names)
    for (std::string& name : names) {
      const bool is_below =
          name.starts_with(before) && (name.size() == before.size() || name[before.size()] == '/');
      if (is_below) name = after + name.substr(before.size());
    }
}

void note_removed(std::uint64_t file) { whereabouts().removed.insert(file); }

bool is_removed(std::uint64_t file) { return whereabouts().removed.contains(file); }

void note_changed(std::uint64_t file) { whereabouts().changed.insert(file); }

void note_changed(int folder, const char* path) {
  if (whereabouts().names.empty()) return;
  const std::string changed = absolute(folder, path);
  for (const auto& [file, names] : whereabouts().names)
    if (std::find(names.begin(), names.end(), changed) != names.end()) note_changed(file);
}

bool is_changed(std::uint64_t file) { return whereabouts().changed.contains(file); }

bool has_name(std::uint64_t file) { return whereabouts().names.contains(file); }

std::string name_of(std::uint64_t file) {
  const auto found = whereabouts().names.find(file);
  if (found == whereabouts().names.end()) return {};
  for (const std::string& name : found->second)
    if (file_at(AT_FDCWD, name.c_str()) == file) return name;
  return {};
}

std::string first_name_of(std::uint64_t file) {
  const auto found = whereabouts().names.find(file);
  return found == whereabouts().names.end() ? std::string("?") : found->second.front();
}

}  // namespace llamada::mpi::interpose
