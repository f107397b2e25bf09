#include "standby/program_files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>

#include "llamada/base/kept_descriptor.hpp"

namespace llamada::mpi::standby {
namespace {

constexpr int standard_streams = 3;
/// The major number of /dev/null, /dev/zero and /dev/urandom, which have no offsets.
constexpr unsigned memory_devices = 1;

std::string path_of(int descriptor) { return fmt::format("/proc/self/fd/{}", descriptor); }

std::string name_of(int descriptor) {
  char name[4096];
  const ssize_t length = ::readlink(path_of(descriptor).c_str(), name, sizeof name);
  return length > 0 ? std::string(name, static_cast<std::size_t>(length)) : "a file";
}

/// Whether llamanetd has it, too: a replacement that begins at the program's beginning has it as it is now.
bool is_inherited(int descriptor) {
  char own[4096], parents[4096];
  const ssize_t length = ::readlink(path_of(descriptor).c_str(), own, sizeof own);
  const std::string path = fmt::format("/proc/{}/fd/{}", ::syscall(SYS_getppid), descriptor);
  return length > 0 && ::readlink(path.c_str(), parents, sizeof parents) == length &&
         std::memcmp(own, parents, static_cast<std::size_t>(length)) == 0;
}

/// A lock on a file (flock) belongs to what the copy would share.
bool is_locked(int descriptor) {
  char text[4096];
  const int info = ::open(fmt::format("/proc/self/fdinfo/{}", descriptor).c_str(), O_RDONLY | O_CLOEXEC);
  if (info < 0) return true;
  const ssize_t length = ::read(info, text, sizeof text - 1);
  ::close(info);
  if (length < 0) return true;
  text[length] = '\0';
  return std::strstr(text, "\nlock:") != nullptr;
}

std::optional<std::vector<int>> open_descriptors() {
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(::opendir("/proc/self/fd"), ::closedir);
  if (!listing) return std::nullopt;
  std::vector<int> found;
  while (const dirent* const entry = ::readdir(listing.get())) {
    int descriptor = -1;
    std::from_chars(entry->d_name, entry->d_name + std::strlen(entry->d_name), descriptor);
    if (descriptor >= 0 && descriptor != ::dirfd(listing.get()) && !is_kept(descriptor))
      found.push_back(descriptor);
  }
  return found;
}

/// The pipes of mpirun, or /dev/null.
bool is_usual_stream(int descriptor) {
  struct stat found {};
  if (::fstat(descriptor, &found) != 0) return false;
  return S_ISFIFO(found.st_mode) || (S_ISCHR(found.st_mode) && major(found.st_rdev) == memory_devices);
}

}  // namespace

Result<ProgramFiles> ProgramFiles::look() {
  const auto descriptors = open_descriptors();
  if (!descriptors) return system_failure("/proc/self/fd");
  for (int stream = 0; stream < standard_streams; ++stream)
    if (!is_usual_stream(stream))
      return failure(Errc::unsupported, "the program has redirected or closed a standard stream");
  ProgramFiles files;
  for (const int descriptor : *descriptors) {
    if (descriptor < standard_streams) continue;
    if (std::string why = files.add(descriptor); !why.empty())
      return failure(Errc::unsupported, "{} (descriptor {}) {}", name_of(descriptor), descriptor, why);
  }
  return files;
}

/// Why it cannot be opened again; empty: it can.
std::string ProgramFiles::add(int descriptor) {
  struct stat found {};
  if (::fstat(descriptor, &found) != 0) return "cannot be looked at";
  if (S_ISCHR(found.st_mode) && major(found.st_rdev) == memory_devices) return {};
  if (!S_ISREG(found.st_mode)) return is_inherited(descriptor) ? "" : "is open, and is no regular file";
  const bool is_open_twice = std::ranges::any_of(
      files_, [&](const File& other) { return other.device == found.st_dev && other.inode == found.st_ino; });
  if (is_open_twice) return "is open twice";
  if (is_locked(descriptor)) return "is locked";
  const int flags = ::fcntl(descriptor, F_GETFL);
  const int descriptor_flags = ::fcntl(descriptor, F_GETFD);
  if (flags < 0 || descriptor_flags < 0) return "cannot be looked at";
  files_.push_back(
      {descriptor, flags, descriptor_flags, ::lseek(descriptor, 0, SEEK_CUR), found.st_dev, found.st_ino});
  return {};
}

Status ProgramFiles::reopen() const {
  for (const File& file : files_) {
    const int close_flag = (file.descriptor_flags & FD_CLOEXEC) != 0 ? O_CLOEXEC : 0;
    const int again =
        ::open(path_of(file.descriptor).c_str(), (file.flags & ~(O_CREAT | O_EXCL | O_TRUNC)) | O_CLOEXEC);
    if (again < 0) return system_failure(fmt::format("opening {} again", name_of(file.descriptor)));
    const bool is_placed = ::lseek(again, file.place, SEEK_SET) == file.place &&
                           ::dup3(again, file.descriptor, close_flag) == file.descriptor;
    const int error = errno;
    ::close(again);
    if (!is_placed) return system_failure("placing a file that was opened again", error);
  }
  return {};
}

}  // namespace llamada::mpi::standby
