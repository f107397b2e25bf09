#include "llamada/llamanet/memory_source.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "llamada/llamanet/shared_memory.hpp"

namespace llamada::llamanet {
namespace {

/// -1 where it is refused. Only what is safe in a child of a process with threads.
int mount_tmpfs() {
  const int context = ::fsopen("tmpfs", FSOPEN_CLOEXEC);
  if (context < 0) return -1;
  int mounted = -1;
  // No limit beside that of the machine's memory, as memfds have none.
  if (::fsconfig(context, FSCONFIG_SET_STRING, "huge", "within_size", 0) == 0 &&
      ::fsconfig(context, FSCONFIG_SET_STRING, "size", "0", 0) == 0 &&
      ::fsconfig(context, FSCONFIG_SET_STRING, "mode", "0700", 0) == 0 &&
      ::fsconfig(context, FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) == 0)
    mounted = ::fsmount(context, FSMOUNT_CLOEXEC,
                        MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC | MOUNT_ATTR_NOATIME);
  ::close(context);
  return mounted;
}

bool write_file(const char* path, const char* text, std::size_t size) {
  const int file = ::open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool written = ::write(file, text, size) == static_cast<ssize_t>(size);
  ::close(file);
  return written;
}

/// What makes files of the user and group that this process is, in a user namespace of the child's.
struct IdentityMaps {
  std::array<char, 64> users, groups;
  std::size_t user_bytes, group_bytes;
};

IdentityMaps identity_maps() {
  IdentityMaps maps{};
  const auto write = [](std::array<char, 64>& to, unsigned id) {
    return static_cast<std::size_t>(fmt::format_to_n(to.data(), to.size(), "{} {} 1\n", id, id).size);
  };
  maps.user_bytes = write(maps.users, ::geteuid());
  maps.group_bytes = write(maps.groups, ::getegid());
  return maps;
}

bool enter_user_namespace(const IdentityMaps& maps) {
  return ::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && write_file("/proc/self/setgroups", "deny", 4) &&
         write_file("/proc/self/uid_map", maps.users.data(), maps.user_bytes) &&
         write_file("/proc/self/gid_map", maps.groups.data(), maps.group_bytes);
}

/// The same as a user who may not mount: by a child with our descriptors, in a user namespace of its own.
int mount_tmpfs_as_user() {
  std::array<int, 2> ends;
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return -1;
  FileDescriptor read_end(ends[0]), write_end(ends[1]);
  const IdentityMaps maps = identity_maps();
  const long child = ::syscall(SYS_clone, CLONE_FILES | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (child < 0) return -1;
  if (child == 0) {
    const int mounted = enter_user_namespace(maps) ? mount_tmpfs() : -1;
    ::_exit(::write(ends[1], &mounted, sizeof(mounted)) == sizeof(mounted) ? 0 : 1);
  }
  int status = 0;
  while (::waitpid(static_cast<pid_t>(child), &status, 0) < 0 && errno == EINTR) {
  }
  int mounted = -1;
  ::fcntl(read_end.get(), F_SETFL, O_NONBLOCK);
  return ::read(read_end.get(), &mounted, sizeof(mounted)) == sizeof(mounted) ? mounted : -1;
}

}  // namespace

MemorySource MemorySource::open() {
  MemorySource source;
  source.mount_ = FileDescriptor(mount_tmpfs());
  if (!source.mount_) source.mount_ = FileDescriptor(mount_tmpfs_as_user());
  return source;
}

Result<FileDescriptor> MemorySource::create(const char* name, std::uint64_t size_bytes) const {
  if (!mount_) return create_memory(name, size_bytes);
  FileDescriptor memory(
      ::openat(mount_.get(), name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!memory) return system_failure("a file for an arena in a tmpfs");
  // Whatever the umask: others are given it to read by opening it anew.
  if (::fchmod(memory.get(), 0600) != 0) return system_failure("fchmod of an arena");
  ::unlinkat(mount_.get(), name, 0);
  if (auto sized = set_size(memory.get(), size_bytes); !sized) return propagate(sized);
  return memory;
}

Result<FileDescriptor> MemorySource::create_growing(const char* name, std::uint64_t size_bytes,
                                                    std::uint64_t first_bytes) const {
  // A limit on the size of files shows at once.
  if (auto allowed = check_file_limit(size_bytes); !allowed) return propagate(allowed);
  const std::uint64_t first = std::min(first_bytes, size_bytes);
  return mount_ ? create(name, first) : create_growing_memory(name, first);
}

}  // namespace llamada::llamanet
