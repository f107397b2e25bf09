#include "interpose/opening.hpp"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <string_view>

#include "interpose/file_calls.hpp"
#include "interpose/whereabouts.hpp"
#include "interpose/working_directory.hpp"
#include "llamada/base/crash_point.hpp"

namespace llamada::mpi::interpose {
namespace {

using replay::Determinants;
using replay::ValueId;

/// Of files for reading up to this size, what is read is recorded.
constexpr off_t kept_bytes_max = 16 << 10;
/// How far the clock of a file server may be behind.
constexpr std::uint64_t clock_difference_ns = 10'000'000'000;
constexpr std::uint64_t ns_per_second = 1'000'000'000;

// What is recorded of an opened file: its number (see file_at), or the digest of its identity, with the kind
// in the low bits.
constexpr std::uint64_t kind_mask = 3;
constexpr std::uint64_t regular = 1;   // with its number
constexpr std::uint64_t other = 2;     // no regular file
constexpr std::uint64_t constant = 3;  // with its identity: nobody is expected to change it

std::uint64_t ns_of(const timespec& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * ns_per_second + static_cast<std::uint64_t>(time.tv_nsec);
}

/// The time at which the rank's first incarnation first asked.
std::uint64_t files_since(Determinants& determinants) {
  static const std::uint64_t since = [&] {
    timespec now{};
    syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
    return determinants.read_value(ValueId::files_since, ns_of(now) - clock_difference_ns);
  }();
  return since;
}

bool is_made_by_kernel(const char* path) {
  const std::string_view name = path;
  return name.starts_with("/proc/") || name.starts_with("/sys/");
}

std::uint64_t identity(const struct stat& found) {
  Arguments file;
  file.number(found.st_dev).number(found.st_ino).number(found.st_size);
  const std::uint32_t first = file.digest();
  file.number(ns_of(found.st_mtim));
  return (std::uint64_t{first} << 32 | file.digest()) << 3 >> 1;  // Two free bits at either end.
}

/// What a file is that was opened for reading.
std::uint64_t read_kind(int descriptor, const char* path, std::uint64_t since) {
  struct stat found {};
  if (real_fstat(descriptor, &found) != 0 || !S_ISREG(found.st_mode)) return other;
  const bool may_change =
      found.st_size <= kept_bytes_max || ns_of(found.st_mtim) >= since || is_made_by_kernel(path);
  return may_change ? regular | file_of(descriptor) : constant | identity(found);
}

std::uint64_t written_kind(int descriptor) {
  struct stat found {};
  return real_fstat(descriptor, &found) == 0 && S_ISREG(found.st_mode) ? regular | file_of(descriptor)
                                                                       : other;
}

void follow_or_give_up(int descriptor, const Followed& what) {
  if (!follow(descriptor, what)) cannot_be_repeated(nullptr, "a file with a descriptor above 65535");
}

/// A pipe with a name brings what no replacement can ask for again. /dev/stdout leads to one without a name.
void give_up_at_pipe(int descriptor) {
  struct stat found {};
  struct statfs where {};
  if (real_fstat(descriptor, &found) != 0 || !S_ISFIFO(found.st_mode)) return;
  if (syscall(SYS_fstatfs, descriptor, &where) == 0 && where.f_type != PIPEFS_MAGIC)
    cannot_be_repeated(nullptr, "the use of a named pipe");
}

/// Memory as a file, open in the mode of `flags`.
int open_memory(int flags) {
  const int memory = memfd_create("llamada", MFD_CLOEXEC);
  if (memory < 0) return -1;
  const std::string name = fmt::format("/proc/self/fd/{}", memory);
  const int descriptor = real_openat(AT_FDCWD, name.c_str(), flags, 0);
  real_close(memory);
  return descriptor;
}

/// A file without a name, where the one of this path lay, or in memory.
int open_standing(Determinants& determinants, int folder, const char* path, int flags) {
  const std::string name = path;
  const auto slash = name.rfind('/');
  const std::string where = slash == std::string::npos ? "." : name.substr(0, slash + 1);
  int kept_flags = flags & (O_ACCMODE | O_CLOEXEC | O_APPEND);
  if ((flags & O_ACCMODE) == O_RDONLY) kept_flags |= O_RDWR;
  int descriptor = real_openat(folder, where.c_str(), O_TMPFILE | kept_flags, 0600);
  if (descriptor < 0) descriptor = open_memory(kept_flags);
  if (descriptor < 0)
    determinants.diverged(fmt::format(
        "the file '{}' that its predecessor used no longer exists, and the disk has no room for a new one",
        path));
  return descriptor;
}

/// The file that a predecessor opened, or one that stands for it.
int open_again(Determinants& determinants, int folder, const char* path, int flags, const Followed& what,
               bool is_new) {
  constexpr int changing = O_CREAT | O_EXCL | O_TRUNC;
  const bool is_named = (flags & O_TMPFILE) != O_TMPFILE;
  const int descriptor = is_named ? real_openat(folder, path, flags & ~changing, 0) : -1;
  if (descriptor >= 0 && (written_kind(descriptor) & ~kind_mask) == what.file) {
    follow_or_give_up(descriptor, what);
    return descriptor;
  }
  if (descriptor >= 0) real_close(descriptor);
  const int standing = open_standing(determinants, folder, path, flags);
  Followed standing_as = what;
  standing_as.standing = is_new ? Standing::whole : Standing::part;
  if (has_name(what.file)) note_changed(what.file);
  is_named ? note_name(what.file, folder, path) : note_removed(what.file);
  follow_or_give_up(standing, standing_as);
  return standing;
}

int read_again(Determinants& determinants, int folder, const char* path, int flags, std::uint64_t kind) {
  if ((kind & kind_mask) == regular)
    return open_again(determinants, folder, path, flags, {Following::kept, Standing::real, kind & ~kind_mask},
                      false);
  // A directory may be there no more, or something else: closing it is all that the program may do with it
  // now.
  int descriptor = real_openat(folder, path, flags, 0);
  struct stat found {};
  if ((kind & kind_mask) == other && descriptor >= 0 && real_fstat(descriptor, &found) == 0 &&
      S_ISREG(found.st_mode)) {
    real_close(descriptor);
    descriptor = -1;
  }
  if ((kind & kind_mask) == constant &&
      (descriptor < 0 || real_fstat(descriptor, &found) != 0 || (constant | identity(found)) != kind))
    determinants.diverged(fmt::format(
        "the file '{}' has been changed or removed since its predecessor opened it for reading", path));
  if (descriptor < 0) {
    const int standing = real_openat(AT_FDCWD, "/", O_RDONLY | (flags & (O_CLOEXEC | O_PATH)), 0);
    follow_or_give_up(standing, {Following::nothing, Standing::part, 0});
    return standing;
  }
  forget(descriptor);
  return descriptor;
}

int open_to_read(Determinants& determinants, int folder, const char* path, int flags) {
  const std::uint64_t since = files_since(determinants);
  int descriptor = -1;
  Query opening{.call = FileCall::open_to_read};
  opening.digest = Arguments().add(path).number(flags).digest();
  opening.ask = [&](std::vector<std::byte>& answer) {
    descriptor = real_openat(folder, path, flags, 0);
    if (descriptor < 0) return FileOutcome::of(-1);
    give_up_at_pipe(descriptor);
    const std::uint64_t kind = read_kind(descriptor, path, since);
    const auto* bytes = reinterpret_cast<const std::byte*>(&kind);
    answer.insert(answer.end(), bytes, bytes + sizeof kind);
    if ((kind & kind_mask) == regular)
      follow_or_give_up(descriptor, {Following::kept, Standing::real, kind & ~kind_mask});
    else
      forget(descriptor);
    return FileOutcome{};
  };
  opening.take = [&](std::span<const std::byte> answer, bool repeated) {
    std::uint64_t kind = 0;
    if (!repeated || answer.size() != sizeof kind) return;
    std::memcpy(&kind, answer.data(), sizeof kind);
    descriptor = read_again(determinants, folder, path, flags, kind);
  };
  return query(determinants, opening) < 0 ? -1 : descriptor;
}

int open_to_change(Determinants& determinants, int folder, const char* path, int flags, mode_t mode) {
  const Following what = flags & O_APPEND ? Following::appended : Following::written;
  int descriptor = -1;
  Change opening{.call = FileCall::open};
  opening.digest = Arguments().add(path).number(flags).number(mode).digest();
  opening.before = [&] { return file_at(folder, path); };
  opening.act = [&](std::uint64_t before, bool is_begun) {
    // The predecessor may have made it.
    const bool is_made = is_begun && before == 0;
    LLAMADA_CRASH_POINT("append:opening");
    descriptor = real_openat(folder, path, is_made ? flags & ~O_EXCL : flags, mode);
    if (descriptor < 0) return FileOutcome::of(-1);
    give_up_at_pipe(descriptor);
    const std::uint64_t kind = written_kind(descriptor);
    if (before == 0) note_created(kind & ~kind_mask);
    LLAMADA_CRASH_POINT("append:opened");
    if ((kind & kind_mask) == regular)
      follow_or_give_up(descriptor, {what, Standing::real, kind & ~kind_mask});
    else
      forget(descriptor);
    return FileOutcome{static_cast<long>(kind), 0};
  };
  opening.repeated = [&](std::uint64_t before, const FileOutcome& outcome) {
    if (outcome.error_number != 0) return;
    const auto kind = static_cast<std::uint64_t>(outcome.result);
    // A file that was there, and was emptied, may have been open elsewhere.
    const bool is_new = before == 0 || (flags & O_TMPFILE) == O_TMPFILE;
    if (is_new) note_created(kind & ~kind_mask);
    if ((kind & kind_mask) == regular)
      descriptor =
          open_again(determinants, folder, path, flags, {what, Standing::real, kind & ~kind_mask}, is_new);
    else
      descriptor = real_openat(folder, path, flags & ~(O_CREAT | O_EXCL), 0);
  };
  return change(determinants, opening) < 0 ? -1 : descriptor;
}

/// Opens the file itself, if its new name is known, instead of the one that stands for it.
bool take_up(int descriptor, const Followed& what) {
  const std::string name = name_of(what.file);
  if (name.empty()) return false;
  const int flags = static_cast<int>(syscall(SYS_fcntl, descriptor, F_GETFL));
  const int close_on_exec = syscall(SYS_fcntl, descriptor, F_GETFD) & FD_CLOEXEC ? O_CLOEXEC : 0;
  const int file = real_openat(AT_FDCWD, name.c_str(), flags & (O_ACCMODE | O_APPEND), 0);
  if (file < 0) return false;
  real_lseek(file, real_lseek(descriptor, 0, SEEK_CUR), SEEK_SET);
  syscall(SYS_dup3, file, descriptor, close_on_exec);
  real_close(file);
  return follow(descriptor, {what.what, Standing::real, what.file});
}

}  // namespace

int open_file(Determinants& determinants, int folder, const char* path, int flags, mode_t mode) {
  if (!path) {
    errno = EFAULT;
    return -1;
  }
  folder_must_be_there(determinants, folder);
  const bool changes = (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC));
  return changes && !(flags & O_PATH) ? open_to_change(determinants, folder, path, flags, mode)
                                      : open_to_read(determinants, folder, path, flags);
}

void folder_must_be_there(Determinants& determinants, int folder) {
  if (determinants.replaying()) return;
  if (folder == AT_FDCWD) return working_directory_must_be_there(determinants);
  must_be_there(determinants, folder, following(folder));
}

void must_be_there(Determinants& determinants, int descriptor, const Followed& what) {
  if (what.standing == Standing::real || what.standing == Standing::copied || take_up(descriptor, what))
    return;
  if (what.standing == Standing::whole && is_removed(what.file) && !is_changed(what.file)) return;
  determinants.diverged(
      fmt::format("the file '{}' that its predecessor had open was removed or renamed, and the replacement "
                  "has to use it again",
                  first_name_of(what.file)));
}

int flags_of_mode(const char* mode) {
  const std::string_view letters = mode ? mode : "";
  const auto has = [&](char letter) { return letters.find(letter) != std::string_view::npos; };
  if (letters.empty()) return -1;
  int flags = 0;
  switch (letters[0]) {
    case 'r':
      break;
    case 'w':
      flags = O_CREAT | O_TRUNC;
      break;
    case 'a':
      flags = O_CREAT | O_APPEND;
      break;
    default:
      return -1;
  }
  flags |= has('+') ? O_RDWR : letters[0] == 'r' ? O_RDONLY : O_WRONLY;
  if (has('e')) flags |= O_CLOEXEC;
  if (has('x') && letters[0] != 'r') flags |= O_EXCL;
  return flags;
}

}  // namespace llamada::mpi::interpose
