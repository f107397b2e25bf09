#include "interpose/appending.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "interpose/descriptors.hpp"
#include "llamada/base/crash_point.hpp"
#include "llamada/base/crc32c.hpp"

namespace llamada::mpi::interpose {
namespace {

using replay::Determinants;
using replay::ValueId;

// What is recorded of an open(): 4 * errno, or with the low bits the kind of file, and its inode above them.
constexpr std::uint64_t opened_mask = 3;
constexpr std::uint64_t opened_regular = 1;
constexpr std::uint64_t opened_other = 2;

// What is recorded of an append: the descriptor's offset behind it, or one of these with the number of bytes
// that were appended before it failed, or the errno when there were none.
constexpr std::uint64_t append_failed = std::uint64_t{1} << 63;
constexpr std::uint64_t append_cut_short = std::uint64_t{1} << 62;

std::uint64_t opened_as(int descriptor, int error_number) {
  struct stat found {};
  if (descriptor < 0) return static_cast<std::uint64_t>(error_number) << 2;
  if (real_fstat(descriptor, &found) != 0 || !S_ISREG(found.st_mode)) return opened_other;
  return opened_regular | static_cast<std::uint64_t>(found.st_ino) << 2;
}

bool exists(int folder, const char* path) { return faccessat(folder, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0; }

/// What the predecessor opened, without making or emptying it once more. What is not there any more is
/// replaced by /dev/null: good enough as long as all that is appended has been appended already.
int open_again(int folder, const char* path, int flags, mode_t mode, std::uint64_t outcome) {
  if ((outcome & opened_mask) == 0) {
    errno = static_cast<int>(outcome >> 2);
    return -1;
  }
  if (outcome == opened_other) return real_openat(folder, path, flags, mode);
  const int descriptor = real_openat(folder, path, flags & ~(O_CREAT | O_EXCL | O_TRUNC), 0);
  if (opened_as(descriptor, errno) == outcome) {
    follow(descriptor, Following::appended);
    return descriptor;
  }
  if (descriptor >= 0) close(descriptor);
  const int nowhere = real_openat(AT_FDCWD, "/dev/null", O_RDWR | (flags & O_CLOEXEC), 0);
  follow(nowhere, Following::lost);
  return nowhere;
}

/// What the predecessor made with O_EXCL, again.
int make_again(int folder, const char* path, int flags, mode_t mode, std::uint64_t outcome) {
  if ((outcome & opened_mask) == 0) {
    errno = static_cast<int>(outcome >> 2);
    return -1;
  }
  const int descriptor = real_openat(folder, path, flags & ~O_EXCL, mode);
  follow(descriptor, Following::written);
  return descriptor;
}

/// A file to append to, or to be made.
int open_recorded(Determinants& determinants, int folder, const char* path, int flags, mode_t mode) {
  const bool appends = flags & O_APPEND;
  const bool repeated = determinants.replaying();
  const bool was_there =
      determinants.read_value(ValueId::file_found, (flags & O_EXCL) && exists(folder, path)) != 0;
  if (repeated && determinants.replaying()) {
    const std::uint64_t outcome = determinants.read_value(ValueId::file_opened, 0);
    return (appends ? open_again : make_again)(folder, path, flags, mode, outcome);
  }
  // The predecessor may have made it.
  if (repeated && !was_there) flags &= ~O_EXCL;
  LLAMADA_CRASH_POINT("append:opening");
  const int descriptor = real_openat(folder, path, flags, mode);
  const std::uint64_t outcome = opened_as(descriptor, errno);
  LLAMADA_CRASH_POINT("append:opened");
  determinants.read_value(ValueId::file_opened, outcome);
  if (descriptor < 0) errno = static_cast<int>(outcome >> 2);
  if ((outcome & opened_mask) == opened_regular)
    follow(descriptor, appends ? Following::appended : Following::written);
  return descriptor;
}

std::uint64_t size_of(int descriptor) {
  struct stat found {};
  return real_fstat(descriptor, &found) == 0 ? static_cast<std::uint64_t>(found.st_size) : 0;
}

/// Whether a file has these bytes at a place.
bool has_at(int descriptor, std::uint64_t at, const std::byte* bytes, std::size_t size_bytes) {
  char name[32];
  std::snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);  // It may be open for writing alone.
  const int file = real_openat(AT_FDCWD, name, O_RDONLY | O_CLOEXEC, 0);
  std::byte piece[4096];
  std::size_t done = 0;
  while (file >= 0 && done < size_bytes) {
    const ssize_t got =
        pread(file, piece, std::min(sizeof piece, size_bytes - done), static_cast<off_t>(at + done));
    if (got <= 0 || std::memcmp(piece, bytes + done, static_cast<std::size_t>(got)) != 0) break;
    done += static_cast<std::size_t>(got);
  }
  if (file >= 0) close(file);
  return done == size_bytes;
}

/// How much of a piece the predecessor appended that died at it: it began when the file had `begin` bytes.
std::size_t appended_before(Determinants& determinants, int descriptor, std::uint64_t begin,
                            const std::byte* bytes, std::size_t size_bytes) {
  const std::uint64_t end = size_of(descriptor);
  if (end <= begin) return 0;
  if (end - begin <= size_bytes && has_at(descriptor, begin, bytes, end - begin)) return end - begin;
  determinants.diverged(
      "others have appended to a file at the moment at which this rank died while it did: whether its own "
      "piece is there cannot be told");
}

/// Writes all of it; gives what is to be recorded.
std::uint64_t append_now(int descriptor, const std::byte* bytes, std::size_t size_bytes, std::size_t done) {
  while (done < size_bytes) {
    const ssize_t count = real_write(descriptor, bytes + done, size_bytes - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0)
      return append_failed | (done ? append_cut_short | done : static_cast<std::uint64_t>(errno));
    done += static_cast<std::size_t>(count);
  }
  return static_cast<std::uint64_t>(real_lseek(descriptor, 0, SEEK_CUR));
}

ssize_t answer(int descriptor, std::uint64_t outcome, std::size_t size_bytes) {
  if ((outcome & append_failed) == 0) {
    real_lseek(descriptor, static_cast<off_t>(outcome), SEEK_SET);
    return static_cast<ssize_t>(size_bytes);
  }
  if (outcome & append_cut_short) return static_cast<ssize_t>(outcome & ~(append_failed | append_cut_short));
  errno = static_cast<int>(outcome & 0xffff);
  return -1;
}

}  // namespace

int open_file(int folder, const char* path, int flags, mode_t mode) {
  auto* determinants = (flags & O_ACCMODE) != O_RDONLY ? determinants_of_caller() : nullptr;
  if (determinants && ((flags & O_APPEND) || (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL)))
    return open_recorded(*determinants, folder, path, flags, mode);
  const int descriptor = real_openat(folder, path, flags, mode);
  const int error_number = errno;
  follow(descriptor, determinants ? Following::written : Following::nothing);
  errno = error_number;
  return descriptor;
}

bool is_appended(int descriptor) {
  return following(descriptor) >= Following::appended && determinants_of_caller();
}

ssize_t append(int descriptor, const void* data, std::size_t size_bytes) {
  const auto* bytes = static_cast<const std::byte*>(data);
  Determinants& determinants = *determinants_of_caller();
  const std::uint64_t digest = std::uint64_t{crc32c({bytes, size_bytes})} << 32 | (size_bytes & 0xffffffff);
  if (determinants.read_value(ValueId::append_digest, digest) != digest)
    determinants.diverged("what it appends to a file is not what its predecessor appended");
  const bool repeated = determinants.replaying();
  const std::uint64_t begin = determinants.read_value(ValueId::append_begin, size_of(descriptor));
  if (repeated && determinants.replaying())
    return answer(descriptor, determinants.read_value(ValueId::append_end, 0), size_bytes);
  if (following(descriptor) == Following::lost)
    determinants.diverged("a file to which it appends was removed or renamed while it was open");
  LLAMADA_CRASH_POINT("append:announced");
  const std::size_t done = repeated ? appended_before(determinants, descriptor, begin, bytes, size_bytes) : 0;
  const std::uint64_t outcome = append_now(descriptor, bytes, size_bytes, done);
  LLAMADA_CRASH_POINT("append:written");
  determinants.read_value(ValueId::append_end, outcome);
  return (outcome & append_failed) ? answer(descriptor, outcome, size_bytes)
                                   : static_cast<ssize_t>(size_bytes);
}

off_t seek(int descriptor, off_t offset, int whence) {
  auto* determinants = whence == SEEK_END ? determinants_of_caller() : nullptr;
  if (!determinants || following(descriptor) == Following::nothing)
    return real_lseek(descriptor, offset, whence);
  const auto end = determinants->read_value(ValueId::file_end, size_of(descriptor));
  const off_t place = static_cast<off_t>(end) + offset;
  return following(descriptor) == Following::lost ? place : real_lseek(descriptor, place, SEEK_SET);
}

int stat_file(int descriptor, struct stat* found) {
  const int failed = real_fstat(descriptor, found);
  auto* determinants =
      failed || following(descriptor) == Following::nothing ? nullptr : determinants_of_caller();
  if (determinants)
    found->st_size = static_cast<off_t>(
        determinants->read_value(ValueId::file_end, static_cast<std::uint64_t>(found->st_size)));
  return failed;
}

}  // namespace llamada::mpi::interpose
