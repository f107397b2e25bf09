#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>
#include <utime.h>

#include <cstring>

#include "interpose/file_calls.hpp"
#include "interpose/last_name.hpp"
#include "interpose/names.hpp"
#include "interpose/opening.hpp"
#include "interpose/whereabouts.hpp"

// The functions of libc that make, remove and rename what has a name in the file system, and change what the
// file system knows of it, as libmpi exports them. They are system calls all the same.

using namespace llamada::mpi;
using interpose::Arguments;
using interpose::Change;
using interpose::FileCall;
using interpose::FileOutcome;
using replay::Determinants;

namespace {

template <typename... Numbers>
FileOutcome call(long number, Numbers... arguments) {
  return FileOutcome::of(syscall(number, arguments...));
}

/// A change that may be made again when a rank died in it.
long again(Determinants& determinants, FileCall what, const Arguments& arguments,
           const std::function<FileOutcome()>& act) {
  Change change{.call = what, .digest = arguments.digest()};
  change.act = [&](std::uint64_t, bool) { return act(); };
  return interpose::change(determinants, change);
}

/// The same of what a name leads to: what stands for it is another file then.
long again_by_name(Determinants& determinants, FileCall what, const Arguments& arguments, const char* path,
                   const std::function<FileOutcome()>& act) {
  interpose::note_changed(AT_FDCWD, path);
  return again(determinants, what, arguments, act);
}

/// Something gets a name that there was not. `is_it` tells whether what has the name now is what was made.
long make(Determinants& determinants, FileCall what, const Arguments& arguments, int folder, const char* path,
          const std::function<FileOutcome()>& act, const std::function<bool()>& is_it) {
  interpose::folder_must_be_there(determinants, folder);
  Change change{.call = what, .digest = arguments.digest()};
  change.before = [&] { return interpose::file_at(folder, path); };
  change.act = [&](std::uint64_t before, bool is_begun) {
    return is_begun && before == 0 && is_it() ? FileOutcome{} : act();
  };
  return interpose::change(determinants, change);
}

mode_t type_at(int folder, const char* path) {
  struct stat found {};
  return syscall(SYS_newfstatat, folder, path, &found, AT_SYMLINK_NOFOLLOW) == 0 ? found.st_mode & S_IFMT : 0;
}

long make_directory(Determinants* determinants, int folder, const char* path, mode_t mode) {
  const auto act = [&] { return call(SYS_mkdirat, folder, path, mode); };
  if (!determinants) return act().give();
  return make(*determinants, FileCall::make_directory, Arguments().add(path).number(mode), folder, path, act,
              [&] { return type_at(folder, path) == S_IFDIR; });
}

long make_node(Determinants* determinants, int folder, const char* path, mode_t mode, dev_t device) {
  const auto act = [&] { return call(SYS_mknodat, folder, path, mode, device); };
  if (!determinants) return act().give();
  const mode_t type = mode & S_IFMT ? mode & S_IFMT : S_IFREG;
  return make(*determinants, FileCall::make_node, Arguments().add(path).number(mode).number(device), folder,
              path, act, [&] { return type_at(folder, path) == type; });
}

long make_symlink(Determinants* determinants, const char* target, int folder, const char* path) {
  const auto act = [&] { return call(SYS_symlinkat, target, folder, path); };
  if (!determinants) return act().give();
  return make(*determinants, FileCall::symlink, Arguments().add(target).add(path), folder, path, act, [&] {
    char found[PATH_MAX + 1] = {};
    return syscall(SYS_readlinkat, folder, path, found, PATH_MAX) >= 0 && std::strcmp(found, target) == 0;
  });
}

long make_link(Determinants* determinants, int from, const char* old_path, int to, const char* path,
               int flags) {
  const auto act = [&] { return call(SYS_linkat, from, old_path, to, path, flags); };
  if (!determinants) return act().give();
  interpose::folder_must_be_there(*determinants, from);
  return make(*determinants, FileCall::link, Arguments().add(old_path).add(path).number(flags), to, path, act,
              [&] { return interpose::file_at(to, path) == interpose::file_at(from, old_path); });
}

/// Whether a name is the only one of a regular file.
bool is_last_name(int folder, const char* path) {
  struct stat found {};
  return syscall(SYS_newfstatat, folder, path, &found, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(found.st_mode) &&
         found.st_nlink == 1;
}

// What is recorded of a name before it is removed: the number of its file, with this bit if it has another.
constexpr std::uint64_t has_more_names = 1;

long remove_name(Determinants* determinants, int folder, const char* path, int flags) {
  const auto act = [&] { return call(SYS_unlinkat, folder, path, flags); };
  if (!determinants) return act().give();
  interpose::folder_must_be_there(*determinants, folder);
  const bool is_last = !determinants->replaying() && !(flags & AT_REMOVEDIR) && is_last_name(folder, path);
  const interpose::LastName last(*determinants, is_last ? interpose::file_at(folder, path) : 0);
  Change change{.call = flags & AT_REMOVEDIR ? FileCall::remove_directory : FileCall::unlink};
  change.digest = Arguments().add(path).number(flags).digest();
  change.before = [&] {
    const std::uint64_t file = interpose::file_at(folder, path);
    return file == 0 || is_last_name(folder, path) ? file : file | has_more_names;
  };
  change.act = [&](std::uint64_t before, bool is_begun) {
    const bool is_gone = interpose::file_at(folder, path) != (before & ~has_more_names);
    if (is_begun && before != 0) interpose::note_removed(before);
    return is_begun && before != 0 && is_gone ? FileOutcome{} : act();
  };
  change.repeated = [&](std::uint64_t before, const FileOutcome& outcome) {
    if (outcome.result == 0) interpose::note_removed(before);
  };
  return interpose::change(*determinants, change);
}

long rename_file(Determinants* determinants, int from, const char* old_path, int to, const char* path,
                 unsigned flags) {
  const auto act = [&] { return call(SYS_renameat2, from, old_path, to, path, flags); };
  if (!determinants) return act().give();
  interpose::folder_must_be_there(*determinants, from);
  interpose::folder_must_be_there(*determinants, to);
  // The file that loses its last name, if the new name has been another file's.
  const std::uint64_t now =
      determinants->replaying() || !is_last_name(to, path) ? 0 : interpose::file_at(to, path);
  const std::uint64_t replaced = determinants->read_value(replay::ValueId::file_before, now);
  const interpose::LastName last(*determinants, determinants->replaying() ? 0 : replaced);
  const auto note = [&](std::uint64_t moved) {
    if (replaced != moved) interpose::note_removed(replaced);
    interpose::note_rename(from, old_path, to, path);
  };
  Change change{.call = FileCall::rename};
  change.digest = Arguments().add(old_path).add(path).number(flags).digest();
  change.before = [&] { return interpose::file_at(from, old_path); };
  change.act = [&](std::uint64_t before, bool is_begun) {
    const bool is_moved = before != 0 && interpose::file_at(from, old_path) != before;
    const FileOutcome outcome = is_begun && is_moved ? FileOutcome{} : act();
    if (outcome.result == 0) note(before);
    return outcome;
  };
  change.repeated = [&](std::uint64_t before, const FileOutcome& outcome) {
    if (outcome.result == 0) note(before);
  };
  return interpose::change(*determinants, change);
}

}  // namespace

int interpose::make_directory(Determinants& determinants, const char* path, mode_t mode) {
  return static_cast<int>(::make_directory(&determinants, AT_FDCWD, path, mode));
}

int interpose::remove_file(Determinants& determinants, const char* path) {
  return static_cast<int>(remove_name(&determinants, AT_FDCWD, path, 0));
}

extern "C" {

LLAMADA_INTERPOSED int mkdir(const char* path, mode_t mode) noexcept {
  return static_cast<int>(
      make_directory(interpose::recorder_of_change(LLAMADA_CALLER, "mkdir"), AT_FDCWD, path, mode));
}

LLAMADA_INTERPOSED int mkdirat(int folder, const char* path, mode_t mode) noexcept {
  return static_cast<int>(
      make_directory(interpose::recorder_of_change(LLAMADA_CALLER, "mkdirat"), folder, path, mode));
}

LLAMADA_INTERPOSED int mknod(const char* path, mode_t mode, dev_t device) noexcept {
  return static_cast<int>(
      make_node(interpose::recorder_of_change(LLAMADA_CALLER, "mknod"), AT_FDCWD, path, mode, device));
}

LLAMADA_INTERPOSED int mknodat(int folder, const char* path, mode_t mode, dev_t device) noexcept {
  return static_cast<int>(
      make_node(interpose::recorder_of_change(LLAMADA_CALLER, "mknodat"), folder, path, mode, device));
}

LLAMADA_INTERPOSED int mkfifo(const char* path, mode_t mode) noexcept {
  return static_cast<int>(
      make_node(interpose::recorder_of_change(LLAMADA_CALLER, "mkfifo"), AT_FDCWD, path, mode | S_IFIFO, 0));
}

LLAMADA_INTERPOSED int mkfifoat(int folder, const char* path, mode_t mode) noexcept {
  return static_cast<int>(
      make_node(interpose::recorder_of_change(LLAMADA_CALLER, "mkfifoat"), folder, path, mode | S_IFIFO, 0));
}

LLAMADA_INTERPOSED int symlink(const char* target, const char* path) noexcept {
  return static_cast<int>(
      make_symlink(interpose::recorder_of_change(LLAMADA_CALLER, "symlink"), target, AT_FDCWD, path));
}

LLAMADA_INTERPOSED int symlinkat(const char* target, int folder, const char* path) noexcept {
  return static_cast<int>(
      make_symlink(interpose::recorder_of_change(LLAMADA_CALLER, "symlinkat"), target, folder, path));
}

LLAMADA_INTERPOSED int link(const char* old_path, const char* path) noexcept {
  return static_cast<int>(make_link(interpose::recorder_of_change(LLAMADA_CALLER, "link"), AT_FDCWD, old_path,
                                    AT_FDCWD, path, 0));
}

LLAMADA_INTERPOSED int linkat(int from, const char* old_path, int to, const char* path, int flags) noexcept {
  return static_cast<int>(
      make_link(interpose::recorder_of_change(LLAMADA_CALLER, "linkat"), from, old_path, to, path, flags));
}

LLAMADA_INTERPOSED int unlink(const char* path) noexcept {
  return static_cast<int>(
      remove_name(interpose::recorder_of_change(LLAMADA_CALLER, "unlink"), AT_FDCWD, path, 0));
}

LLAMADA_INTERPOSED int unlinkat(int folder, const char* path, int flags) noexcept {
  return static_cast<int>(
      remove_name(interpose::recorder_of_change(LLAMADA_CALLER, "unlinkat"), folder, path, flags));
}

LLAMADA_INTERPOSED int rmdir(const char* path) noexcept {
  return static_cast<int>(
      remove_name(interpose::recorder_of_change(LLAMADA_CALLER, "rmdir"), AT_FDCWD, path, AT_REMOVEDIR));
}

LLAMADA_INTERPOSED int remove(const char* path) noexcept {
  Determinants* determinants = interpose::recorder_of_change(LLAMADA_CALLER, "remove");
  const long result = remove_name(determinants, AT_FDCWD, path, 0);
  const bool is_directory = result < 0 && (errno == EISDIR || errno == EPERM);
  return static_cast<int>(is_directory ? remove_name(determinants, AT_FDCWD, path, AT_REMOVEDIR) : result);
}

LLAMADA_INTERPOSED int rename(const char* old_path, const char* path) noexcept {
  return static_cast<int>(rename_file(interpose::recorder_of_change(LLAMADA_CALLER, "rename"), AT_FDCWD,
                                      old_path, AT_FDCWD, path, 0));
}

LLAMADA_INTERPOSED int renameat(int from, const char* old_path, int to, const char* path) noexcept {
  return static_cast<int>(
      rename_file(interpose::recorder_of_change(LLAMADA_CALLER, "renameat"), from, old_path, to, path, 0));
}

LLAMADA_INTERPOSED int renameat2(int from, const char* old_path, int to, const char* path,
                                 unsigned flags) noexcept {
  return static_cast<int>(rename_file(interpose::recorder_of_change(LLAMADA_CALLER, "renameat2"), from,
                                      old_path, to, path, flags));
}

LLAMADA_INTERPOSED int truncate(const char* path, off_t size_bytes) noexcept {
  const auto act = [&] { return call(SYS_truncate, path, size_bytes); };
  auto* determinants = interpose::recorder_of_change(LLAMADA_CALLER, "truncate");
  if (!determinants) return static_cast<int>(act().give());
  return static_cast<int>(
      again_by_name(*determinants, FileCall::truncate, Arguments().add(path).number(size_bytes), path, act));
}
LLAMADA_INTERPOSED int truncate64(const char*, off64_t) noexcept __attribute__((alias("truncate")));

LLAMADA_INTERPOSED int fallocate(int descriptor, int mode, off_t offset, off_t size_bytes) {
  const auto act = [&] { return call(SYS_fallocate, descriptor, mode, offset, size_bytes); };
  auto* determinants = interpose::recorder_of_change(LLAMADA_CALLER, "fallocate");
  if (!determinants) return static_cast<int>(act().give());
  const interpose::Followed what = interpose::following(descriptor);
  Change change{.call = FileCall::allocate};
  change.digest = Arguments().number(mode).number(offset).number(size_bytes).digest();
  change.act = [&](std::uint64_t, bool) {
    interpose::must_be_there(*determinants, descriptor, what);
    return act();
  };
  change.repeated = [&](std::uint64_t, const FileOutcome& outcome) {
    if (outcome.result == 0 && what.standing != interpose::Standing::real) act();
  };
  return static_cast<int>(interpose::change(*determinants, change));
}
LLAMADA_INTERPOSED int fallocate64(int, int, off64_t, off64_t) __attribute__((alias("fallocate")));

/// libc's own writes a byte into each block where the file system knows no such call.
LLAMADA_INTERPOSED int posix_fallocate(int descriptor, off_t offset, off_t size_bytes) {
  static interpose::NextFunction<int(int, off_t, off_t)> next("posix_fallocate");
  auto* determinants = interpose::recorder_of_change(LLAMADA_CALLER, "posix_fallocate");
  if (!determinants) return next.get()(descriptor, offset, size_bytes);
  const interpose::Followed what = interpose::following(descriptor);
  const int error_number = errno;
  Change change{.call = FileCall::allocate};
  change.digest = Arguments().number(offset).number(size_bytes).digest();
  change.act = [&](std::uint64_t, bool) {
    interpose::must_be_there(*determinants, descriptor, what);
    return FileOutcome{next.get()(descriptor, offset, size_bytes), 0};
  };
  change.repeated = [&](std::uint64_t, const FileOutcome& outcome) {
    if (outcome.result == 0 && what.standing != interpose::Standing::real)
      next.get()(descriptor, offset, size_bytes);
  };
  const long result = interpose::change(*determinants, change);
  errno = error_number;
  return static_cast<int>(result);
}
LLAMADA_INTERPOSED int posix_fallocate64(int, off64_t, off64_t) __attribute__((alias("posix_fallocate")));

LLAMADA_INTERPOSED int chmod(const char* path, mode_t mode) noexcept {
  const auto act = [&] { return call(SYS_chmod, path, mode); };
  auto* determinants = interpose::recorder_of_change(LLAMADA_CALLER, "chmod");
  if (!determinants) return static_cast<int>(act().give());
  return static_cast<int>(
      again(*determinants, FileCall::change_mode, Arguments().add(path).number(mode), act));
}

LLAMADA_INTERPOSED int fchmod(int descriptor, mode_t mode) noexcept {
  const auto act = [&] { return call(SYS_fchmod, descriptor, mode); };
  auto* determinants = interpose::recorder_of_change(LLAMADA_CALLER, "fchmod");
  if (!determinants) return static_cast<int>(act().give());
  return static_cast<int>(again(*determinants, FileCall::change_mode, Arguments().number(mode), act));
}

LLAMADA_INTERPOSED int fchmodat(int folder, const char* path, mode_t mode, int flags) noexcept {
  static interpose::NextFunction<int(int, const char*, mode_t, int)> next("fchmodat");
  const auto act = [&] { return FileOutcome::of(next.get()(folder, path, mode, flags)); };
  auto* determinants = interpose::recorder_of_change(LLAMADA_CALLER, "fchmodat");
  if (!determinants) return static_cast<int>(act().give());
  interpose::folder_must_be_there(*determinants, folder);
  return static_cast<int>(
      again(*determinants, FileCall::change_mode, Arguments().add(path).number(mode).number(flags), act));
}

LLAMADA_INTERPOSED int fchownat(int folder, const char* path, uid_t owner, gid_t group, int flags) noexcept {
  const auto act = [&] { return call(SYS_fchownat, folder, path, owner, group, flags); };
  auto* determinants = interpose::recorder_of_change(LLAMADA_CALLER, "chown");
  if (!determinants) return static_cast<int>(act().give());
  interpose::folder_must_be_there(*determinants, folder);
  const Arguments arguments = Arguments().add(path).number(owner).number(group).number(flags);
  return static_cast<int>(again(*determinants, FileCall::change_owner, arguments, act));
}

LLAMADA_INTERPOSED int chown(const char* path, uid_t owner, gid_t group) noexcept {
  const auto act = [&] { return call(SYS_chown, path, owner, group); };
  auto* determinants = interpose::recorder_of_change(LLAMADA_CALLER, "chown");
  if (!determinants) return static_cast<int>(act().give());
  const Arguments arguments = Arguments().add(path).number(owner).number(group);
  return static_cast<int>(again(*determinants, FileCall::change_owner, arguments, act));
}

LLAMADA_INTERPOSED int lchown(const char* path, uid_t owner, gid_t group) noexcept {
  const auto act = [&] { return call(SYS_lchown, path, owner, group); };
  auto* determinants = interpose::recorder_of_change(LLAMADA_CALLER, "lchown");
  if (!determinants) return static_cast<int>(act().give());
  const Arguments arguments = Arguments().add(path).number(owner).number(group);
  return static_cast<int>(again(*determinants, FileCall::change_owner, arguments, act));
}

LLAMADA_INTERPOSED int fchown(int descriptor, uid_t owner, gid_t group) noexcept {
  const auto act = [&] { return call(SYS_fchown, descriptor, owner, group); };
  auto* determinants = interpose::recorder_of_change(LLAMADA_CALLER, "fchown");
  if (!determinants) return static_cast<int>(act().give());
  return static_cast<int>(
      again(*determinants, FileCall::change_owner, Arguments().number(owner).number(group), act));
}

// The times are no part of what is compared: they may be of a clock that is read without us.
LLAMADA_INTERPOSED int utimensat(int folder, const char* path, const timespec times[2], int flags) noexcept {
  const auto act = [&] { return call(SYS_utimensat, folder, path, times, flags); };
  auto* determinants = interpose::recorder_of_change(LLAMADA_CALLER, "utimensat");
  if (!determinants) return static_cast<int>(act().give());
  interpose::folder_must_be_there(*determinants, folder);
  return static_cast<int>(
      again(*determinants, FileCall::change_times, Arguments().add(path).number(flags), act));
}

LLAMADA_INTERPOSED int futimens(int descriptor, const timespec times[2]) noexcept {
  const auto act = [&] { return call(SYS_utimensat, descriptor, nullptr, times, 0); };
  auto* determinants = interpose::recorder_of_change(LLAMADA_CALLER, "futimens");
  if (!determinants) return static_cast<int>(act().give());
  return static_cast<int>(again(*determinants, FileCall::change_times, Arguments(), act));
}

LLAMADA_INTERPOSED int utimes(const char* path, const timeval times[2]) noexcept {
  const auto act = [&] { return call(SYS_utimes, path, times); };
  auto* determinants = interpose::recorder_of_change(LLAMADA_CALLER, "utimes");
  if (!determinants) return static_cast<int>(act().give());
  return static_cast<int>(again(*determinants, FileCall::change_times, Arguments().add(path), act));
}

LLAMADA_INTERPOSED int utime(const char* path, const utimbuf* times) noexcept {
  const auto act = [&] { return call(SYS_utime, path, times); };
  auto* determinants = interpose::recorder_of_change(LLAMADA_CALLER, "utime");
  if (!determinants) return static_cast<int>(act().give());
  return static_cast<int>(again(*determinants, FileCall::change_times, Arguments().add(path), act));
}

LLAMADA_INTERPOSED int lutimes(const char* path, const timeval times[2]) noexcept {
  static interpose::NextFunction<int(const char*, const timeval*)> next("lutimes");
  const auto act = [&] { return FileOutcome::of(next.get()(path, times)); };
  auto* determinants = interpose::recorder_of_change(LLAMADA_CALLER, "lutimes");
  if (!determinants) return static_cast<int>(act().give());
  return static_cast<int>(again(*determinants, FileCall::change_times, Arguments().add(path), act));
}

LLAMADA_INTERPOSED int futimes(int descriptor, const timeval times[2]) noexcept {
  static interpose::NextFunction<int(int, const timeval*)> next("futimes");
  const auto act = [&] { return FileOutcome::of(next.get()(descriptor, times)); };
  auto* determinants = interpose::recorder_of_change(LLAMADA_CALLER, "futimes");
  if (!determinants) return static_cast<int>(act().give());
  return static_cast<int>(again(*determinants, FileCall::change_times, Arguments(), act));
}

}  // extern "C"
