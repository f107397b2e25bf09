#include "standby/program_files.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "llamada/base/file_descriptor.hpp"
#include "llamada/base/kept_descriptor.hpp"
#include "standby/proc.hpp"

namespace llamada::mpi::standby {
namespace {

constexpr int standard_streams = 3;
/// The major number of /dev/null, /dev/zero and /dev/urandom, which have no offsets.
constexpr unsigned memory_devices = 1;

std::string path_of(int descriptor) { return fmt::format("/proc/self/fd/{}", descriptor); }

std::string name_of(int descriptor) { return link_of(path_of(descriptor)).value_or("a file"); }

/// Whether llamanetd has it, too: a replacement that begins at the program's beginning has it as it is now.
bool is_inherited(int descriptor) {
  const auto own = link_of(path_of(descriptor));
  return own && own == link_of(fmt::format("/proc/{}/fd/{}", ::syscall(SYS_getppid), descriptor));
}

/// A lock on a file (flock) belongs to what the copy would share.
bool is_locked(int descriptor) {
  const auto information = content_of(fmt::format("/proc/self/fdinfo/{}", descriptor));
  return !information || information->find("\nlock:") != std::string::npos;
}

std::optional<std::vector<int>> open_descriptors() {
  auto found = numbers_in("/proc/self/fd");
  if (found) std::erase_if(*found, [](int descriptor) { return is_kept(descriptor); });
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
  const auto flags = static_cast<int>(::syscall(SYS_fcntl, descriptor, F_GETFL));
  const auto descriptor_flags = static_cast<int>(::syscall(SYS_fcntl, descriptor, F_GETFD));
  if (flags < 0 || descriptor_flags < 0) return "cannot be looked at";
  files_.push_back({descriptor, flags, descriptor_flags, ::syscall(SYS_lseek, descriptor, 0, SEEK_CUR),
                    found.st_dev, found.st_ino});
  return {};
}

// By system calls: libc's functions are also the program's, and would forget what is known of the descriptor.
Status ProgramFiles::reopen() const {
  for (const File& file : files_) {
    const int close_flag = (file.descriptor_flags & FD_CLOEXEC) != 0 ? O_CLOEXEC : 0;
    const int flags = (file.flags & ~(O_CREAT | O_EXCL | O_TRUNC)) | O_CLOEXEC;
    const FileDescriptor again(
        static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path_of(file.descriptor).c_str(), flags, 0)));
    if (!again) return system_failure(fmt::format("opening {} again", name_of(file.descriptor)));
    const bool is_placed = ::syscall(SYS_lseek, again.get(), file.place, SEEK_SET) == file.place &&
                           ::syscall(SYS_dup3, again.get(), file.descriptor, close_flag) == file.descriptor;
    if (!is_placed) return system_failure("placing a file that was opened again");
  }
  return {};
}

}  // namespace llamada::mpi::standby
