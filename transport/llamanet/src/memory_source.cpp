#include "llamada/llamanet/memory_source.hpp"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
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

std::uint64_t file_system_of(int file) {
  struct statfs about {};
  return ::fstatfs(file, &about) == 0 ? static_cast<std::uint64_t>(about.f_type) : 0;
}

/// Where the file system has no files without a name (O_TMPFILE).
FileDescriptor create_and_unlink(const std::string& directory) {
  std::string path = directory + "/llamada-XXXXXX";
  FileDescriptor file(::mkostemp(path.data(), O_CLOEXEC));
  if (file) ::unlink(path.c_str());
  return file;
}

/// btrfs writes changed pages to new places, for which there may be no room, unless a file is exempt from
/// that while it is empty.
void write_in_place(int file) {
  int flags = 0;
  if (file_system_of(file) != BTRFS_SUPER_MAGIC || ::ioctl(file, FS_IOC_GETFLAGS, &flags) != 0) return;
  flags |= FS_NOCOW_FL;
  ::ioctl(file, FS_IOC_SETFLAGS, &flags);
}

}  // namespace

int reserve_on_disk(int file, std::uint64_t begin, std::uint64_t end) {
  if (begin >= end) return 0;
  // Not libc's fallocate(), which within a rank may be another's. A signal may interrupt it.
  while (::syscall(SYS_fallocate, file, 0, static_cast<long>(begin), static_cast<long>(end - begin)) != 0)
    if (errno != EINTR) return errno;
  return 0;
}

std::string why_no_room(int error, std::string_view directory) {
  switch (error) {
    case ENOSPC:
      return fmt::format("no room is left in {} (log_directory)", directory);
    case EDQUOT:
      return fmt::format("this user's disk quota for {} (log_directory) is used up", directory);
    case EOPNOTSUPP:
      return fmt::format(
          "the file system of {} (log_directory) cannot reserve room for a file (fallocate), so a full disk "
          "would kill ranks; name a directory on ext4, XFS or btrfs",
          directory);
    default:
      return fmt::format("no room can be reserved in {} (log_directory): {}", directory,
                         std::strerror(error));
  }
}

Result<MemorySource> MemorySource::open_in(const std::string& directory) {
  MemorySource source;
  source.directory_name_ = directory;
  source.directory_ = FileDescriptor(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (source.directory_) return source;
  switch (errno) {
    case ENOENT:
      return failure(Errc::not_found,
                     "the directory {} (log_directory) does not exist; make it on each node of the job, or "
                     "name another one in the profile",
                     directory);
    case ENOTDIR:
      return failure(Errc::invalid_argument, "{} (log_directory) is not a directory", directory);
    default:
      return failure(Errc::system, "the directory {} (log_directory) cannot be opened: {}", directory,
                     std::strerror(errno));
  }
}

bool MemorySource::is_in_memory() const {
  const std::uint64_t type = file_system_of(directory_.get());
  return type == TMPFS_MAGIC || type == RAMFS_MAGIC;
}

Result<FileDescriptor> MemorySource::create_in_directory() const {
  FileDescriptor file(
      ::openat(directory_.get(), ".", O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!file && (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT || errno == EINVAL))
    file = create_and_unlink(directory_name_);
  if (!file && (errno == ENOSPC || errno == EDQUOT))
    return failure(Errc::out_of_resources, "{}", why_no_room(errno, directory_name_));
  if (!file)
    return failure(Errc::system, "no file can be made in {} (log_directory): {}", directory_name_,
                   std::strerror(errno));
  write_in_place(file.get());
  return file;
}

MemorySource MemorySource::open() {
  MemorySource source;
  source.mount_ = FileDescriptor(mount_tmpfs());
  if (!source.mount_) source.mount_ = FileDescriptor(mount_tmpfs_as_user());
  return source;
}

Result<FileDescriptor> MemorySource::create(const char* name, std::uint64_t size_bytes) const {
  if (directory_) {
    auto file = create_in_directory();
    if (!file) return file;
    if (auto allowed = check_file_limit(size_bytes); !allowed) return propagate(allowed);
    if (const int error = reserve_on_disk(file->get(), 0, size_bytes); error != 0)
      return failure(Errc::out_of_resources, "{}", why_no_room(error, directory_name_));
    return file;
  }
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
  return mount_ || directory_ ? create(name, first) : create_growing_memory(name, first);
}

}  // namespace llamada::llamanet
