#include "checkpoint_directory.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <charconv>
#include <filesystem>
#include <map>
#include <system_error>
#include <vector>

namespace llamada::launcher {
namespace {

namespace fs = std::filesystem;

constexpr int attempts_max = 10;

FileDescriptor lock_directory(const std::string& path) {
  FileDescriptor opened(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (opened && flock(opened.get(), LOCK_EX | LOCK_NB) != 0) opened.reset();
  return opened;
}

/// Their jobs are not kept, and no longer run.
void remove_leftovers(const fs::path& parent) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(parent, ignored)) {
    const std::string path = entry.path().string();
    if (!path.ends_with(checkpoint_suffix)) continue;
    const std::string job = path.substr(0, path.size() - std::string_view(checkpoint_suffix).size());
    if (fs::exists(job, ignored)) continue;
    if (const FileDescriptor lock = lock_directory(path)) fs::remove_all(path, ignored);
  }
}

}  // namespace

Status CheckpointDirectory::make() {
  if (lock_ || path_.empty()) return {};
  const fs::path parent = fs::path(path_).parent_path();
  std::error_code code;
  fs::create_directories(parent, code);
  if (code) return system_failure(fmt::format("making {}", parent.string()), code.value());
  for (int attempt = 0; attempt < attempts_max && !lock_; ++attempt) {
    if (mkdir(path_.c_str(), 0700) != 0 && errno != EEXIST)
      return system_failure(fmt::format("making {}", path_));
    lock_ = lock_directory(path_);
    // Another job may have taken it for a leftover before.
    if (lock_ && !fs::exists(path_, code)) lock_.reset();
  }
  if (!lock_) return failure(Errc::already_exists, "another process uses {}", path_);
  // Its own it has locked.
  remove_leftovers(parent);
  return {};
}

void CheckpointDirectory::remove() {
  if (path_.empty()) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  lock_.reset();
}

// The names of the files: mpi-facade/src/checkpoint/image.hpp.
std::uint32_t CheckpointDirectory::newest_whole(std::uint32_t last, std::size_t rank_count) const {
  std::map<std::uint32_t, std::size_t> files_of;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_, ignored)) {
    const std::string name = entry.path().filename().string();
    std::uint32_t number = 0;
    const auto read = std::from_chars(name.data(), name.data() + name.size(), number);
    if (read.ec == std::errc() && *read.ptr == '.' && number <= last && entry.file_size(ignored) > 0)
      ++files_of[number];
  }
  std::erase_if(files_of, [rank_count](const auto& each) { return each.second < rank_count; });
  return files_of.empty() ? 0 : files_of.rbegin()->first;
}

bool CheckpointDirectory::remove_checkpoint(std::uint32_t number) const {
  const std::string prefix = fmt::format("{}.", number);
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_, ignored))
    if (entry.path().filename().string().starts_with(prefix)) files.push_back(entry.path());
  for (const fs::path& file : files) fs::remove(file, ignored);
  return !files.empty();
}

void remove_checkpoints_of(const std::string& directory) {
  std::error_code ignored;
  fs::remove_all(directory + checkpoint_suffix, ignored);
}

}  // namespace llamada::launcher
