#include "job_directory.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "checkpoint_directory.hpp"
#include "llamada/base/file_descriptor.hpp"
#include "llamada/store/segment_store.hpp"

namespace llamada::launcher {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view unborn = ".new", removed = ".gone";
/// A directory without a name may belong to a process that has not locked its store yet.
constexpr std::chrono::minutes leftover_age{10};

Status rename_durably(const std::string& from, const std::string& to) {
  if (rename(from.c_str(), to.c_str()) != 0)
    return system_failure(fmt::format("renaming {} to {}", from, to));
  const std::string parent = fs::path(to).parent_path().string();
  const FileDescriptor directory(open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory || fsync(directory.get()) != 0) return system_failure(fmt::format("fsync of {}", parent));
  return {};
}

}  // namespace

std::string unborn_directory(const std::string& directory) { return directory + std::string(unborn); }

Status publish_job(const std::string& directory) {
  return rename_durably(unborn_directory(directory), directory);
}

Status unname_job(const std::string& directory) {
  return rename_durably(directory, directory + std::string(removed));
}

Status remove_job(const std::string& directory) {
  std::error_code code;
  if (fs::exists(directory, code)) {
    if (const auto process = store::writer_of(directory))
      return failure(Errc::already_exists, "process {} uses it", *process);
    if (auto unnamed = unname_job(directory); !unnamed) return unnamed;
  }
  remove_checkpoints_of(directory);
  return store::remove_store(directory + std::string(removed));
}

void remove_leftovers_beside(const std::string& directory) {
  std::error_code ignored;
  const auto now = fs::file_time_type::clock::now();
  for (const fs::directory_entry& entry :
       fs::directory_iterator(fs::path(directory).parent_path(), ignored)) {
    const std::string name = entry.path().string();
    if (!name.ends_with(unborn) && !name.ends_with(removed)) continue;
    const auto changed = entry.last_write_time(ignored);
    // One that is in use is locked.
    if (!ignored && now - changed > leftover_age) static_cast<void>(store::remove_store(name));
  }
}

}  // namespace llamada::launcher
