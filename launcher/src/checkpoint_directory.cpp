#include "checkpoint_directory.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <filesystem>
#include <system_error>

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

void remove_checkpoints_of(const std::string& directory) {
  std::error_code ignored;
  fs::remove_all(directory + checkpoint_suffix, ignored);
}

}  // namespace llamada::launcher
