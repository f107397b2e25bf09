#include "checkpoint/open_files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "llamada/base/kept_descriptor.hpp"

namespace llamada::mpi::checkpoint {
namespace {

bool is_same(const OpenFile& one, const OpenFile& other) {
  return one.descriptor == other.descriptor && one.device == other.device && one.inode == other.inode;
}

std::string name_of(const OpenFile& file) {
  char name[4096];
  const ssize_t length =
      ::readlink(fmt::format("/proc/self/fd/{}", file.descriptor).c_str(), name, sizeof name);
  return length > 0 ? std::string(name, static_cast<std::size_t>(length))
                    : fmt::format("the file of descriptor {}", file.descriptor);
}

}  // namespace

std::vector<OpenFile> open_files() {
  std::vector<OpenFile> files;
  DIR* const listing = ::opendir("/proc/self/fd");
  if (listing == nullptr) return files;
  while (const dirent* const entry = ::readdir(listing)) {
    int descriptor = -1;
    std::from_chars(entry->d_name, entry->d_name + std::strlen(entry->d_name), descriptor);
    struct stat found {};
    if (descriptor < 0 || is_kept(descriptor) || ::fstat(descriptor, &found) != 0) continue;
    if (!S_ISREG(found.st_mode)) continue;
    const int flags = ::fcntl(descriptor, F_GETFL);
    files.push_back({descriptor, found.st_dev, found.st_ino, ::lseek(descriptor, 0, SEEK_CUR),
                     (flags & O_ACCMODE) == O_RDONLY});
  }
  ::closedir(listing);
  std::ranges::sort(files, {}, &OpenFile::descriptor);
  return files;
}

std::string obstacle_in(const std::vector<OpenFile>& first, const std::vector<OpenFile>& now) {
  for (const OpenFile& file : now) {
    const auto before =
        std::ranges::find_if(first, [&](const OpenFile& each) { return is_same(each, file); });
    if (before == first.end())
      return fmt::format("{} is open, and was not at the first checkpoint", name_of(file));
    // Part of what was read lies in a buffer of libc's.
    if (file.is_only_for_reading && file.place != before->place)
      return fmt::format("{} is open, and has been read on since the first checkpoint", name_of(file));
  }
  for (const OpenFile& file : first)
    if (std::ranges::none_of(now, [&](const OpenFile& each) { return is_same(each, file); }))
      return fmt::format("descriptor {} was open at the first checkpoint, and has been closed since",
                         file.descriptor);
  return {};
}

void restore(const std::vector<OpenFile>& files) {
  for (const OpenFile& file : files) ::lseek(file.descriptor, file.place, SEEK_SET);
}

}  // namespace llamada::mpi::checkpoint
