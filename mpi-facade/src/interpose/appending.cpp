#include "interpose/appending.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "interpose/opening.hpp"
#include "llamada/base/crash_point.hpp"
#include "llamada/base/crc32c.hpp"

namespace llamada::mpi::interpose {
namespace {

using replay::Determinants;
using replay::ValueId;

// What is recorded of an append: the descriptor's offset behind it, or one of these with the number of bytes
// that were appended before it failed, or the errno when there were none.
constexpr std::uint64_t append_failed = std::uint64_t{1} << 63;
constexpr std::uint64_t append_cut_short = std::uint64_t{1} << 62;

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
      "this rank died while it appended to a file, and others appended to that file at the same time; the "
      "library cannot tell whether the rank's own piece is there");
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

ssize_t append(Determinants& determinants, int descriptor, const Followed& what, const void* data,
               std::size_t size_bytes) {
  const auto* bytes = static_cast<const std::byte*>(data);
  const std::uint64_t digest = std::uint64_t{crc32c({bytes, size_bytes})} << 32 | (size_bytes & 0xffffffff);
  if (determinants.read_value(ValueId::append_digest, digest) != digest)
    determinants.diverged("it appends other bytes to a file than its predecessor did");
  const bool repeated = determinants.replaying();
  if (!repeated) must_be_there(determinants, descriptor, what);
  const std::uint64_t begin = determinants.read_value(ValueId::append_begin, size_of(descriptor));
  if (repeated && determinants.replaying()) {
    const std::uint64_t outcome = determinants.read_value(ValueId::append_end, 0);
    if (what.standing != Standing::real && !(outcome & append_failed))
      write_at(descriptor, outcome - size_bytes, bytes, size_bytes);
    return answer(descriptor, outcome, size_bytes);
  }
  must_be_there(determinants, descriptor, what);
  determinants.await_stable();
  LLAMADA_CRASH_POINT("append:announced");
  const std::size_t done = repeated ? appended_before(determinants, descriptor, begin, bytes, size_bytes) : 0;
  const std::uint64_t outcome = append_now(descriptor, bytes, size_bytes, done);
  LLAMADA_CRASH_POINT("append:written");
  determinants.read_value(ValueId::append_end, outcome);
  return (outcome & append_failed) ? answer(descriptor, outcome, size_bytes)
                                   : static_cast<ssize_t>(size_bytes);
}

void write_at(int descriptor, std::uint64_t place, const std::byte* bytes, std::size_t size_bytes) {
  const int flags = fcntl(descriptor, F_GETFL);
  // pwrite() appends where O_APPEND is set.
  if (flags & O_APPEND) fcntl(descriptor, F_SETFL, flags & ~O_APPEND);
  while (size_bytes > 0) {
    const ssize_t count = pwrite(descriptor, bytes, size_bytes, static_cast<off_t>(place));
    if (count <= 0) break;  // Its place stays empty: what is read from there is recorded.
    bytes += count;
    place += static_cast<std::uint64_t>(count);
    size_bytes -= static_cast<std::size_t>(count);
  }
  if (flags & O_APPEND) fcntl(descriptor, F_SETFL, flags);
}

}  // namespace llamada::mpi::interpose
