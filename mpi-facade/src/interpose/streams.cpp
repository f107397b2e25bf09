#include "interpose/streams.hpp"

#include <errno.h>
#include <fcntl.h>
#include <stdio_ext.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "interpose/opening.hpp"
#include "interpose/rank_thread.hpp"
#include "interpose/standard_input.hpp"
#include "interpose/transfers.hpp"

namespace llamada::mpi::interpose {
namespace {

constexpr std::size_t streams_max = 4096;

// Relaxed: who uses a stream has it from who opened it.
struct Stream {
  std::atomic<bool> taken{false};
  std::atomic<FILE*> file{nullptr};
  std::atomic<int> descriptor{-1};
  std::atomic<char*> buffer{nullptr};
};
std::array<Stream, streams_max> streams{};
std::atomic<std::size_t> streams_used{0};  // so many of them have ever been taken, from the first on

int descriptor_of(const void* cookie) {
  return static_cast<const Stream*>(cookie)->descriptor.load(std::memory_order_relaxed);
}

ssize_t read_stream(void* cookie, char* buffer, size_t size_bytes) {
  return read_any(descriptor_of(cookie), buffer, size_bytes);
}

ssize_t write_stream(void* cookie, const char* bytes, size_t size_bytes) {
  const ssize_t count = write_any(descriptor_of(cookie), bytes, size_bytes);
  return count < 0 ? 0 : count;
}

int seek_stream(void* cookie, off64_t* offset, int whence) {
  const off_t place = seek(determinants_of_caller(), descriptor_of(cookie), *offset, whence);
  if (place < 0) return -1;
  *offset = place;
  return 0;
}

void release(Stream& stream) {
  std::free(stream.buffer.exchange(nullptr, std::memory_order_relaxed));
  stream.file.store(nullptr, std::memory_order_relaxed);
  stream.taken.store(false, std::memory_order_release);
}

int close_stream(void* cookie) {
  auto* stream = static_cast<Stream*>(cookie);
  const int result = real_close(descriptor_of(cookie));
  release(*stream);
  return result;
}

Stream* take_stream() {
  for (std::size_t i = 0; i < streams_max; i++) {
    if (streams[i].taken.exchange(true, std::memory_order_acquire)) continue;
    std::size_t used = streams_used.load(std::memory_order_relaxed);
    while (used <= i && !streams_used.compare_exchange_weak(used, i + 1, std::memory_order_relaxed)) {
    }
    return &streams[i];
  }
  errno = EMFILE;
  return nullptr;
}

// The bits of glibc's FILE that fopen() sets by its mode.
constexpr int no_reads = 0x4, no_writes = 0x8, appends = 0x1000;

void empty(replay::Determinants* determinants, int descriptor) {
  if (determinants && following(descriptor).what != Following::nothing)
    truncate_followed(*determinants, descriptor, 0);
  else
    syscall(SYS_ftruncate, descriptor, 0);
}

/// Gives a stream a buffer as large as libc's own would have: where several streams are of one file, and
/// where others read what is being written, they then see the same pieces.
void give_buffer(Stream& stream, FILE* file) {
  struct stat found {};
  const int descriptor = stream.descriptor.load(std::memory_order_relaxed);
  std::size_t size_bytes = 0;
  if (real_fstat(descriptor, &found) == 0)
    size_bytes = static_cast<std::size_t>(std::clamp<blksize_t>(found.st_blksize, 0, BUFSIZ));
  // What a replacement repeats to read may be no file of that kind any more.
  if (replay::Determinants* determinants = determinants_of_caller())
    size_bytes = determinants->read_value(replay::ValueId::stream_buffer, size_bytes);
  if (size_bytes == 0) return;
  auto* buffer = static_cast<char*>(std::malloc(size_bytes));
  if (!buffer) return;
  stream.buffer.store(buffer, std::memory_order_relaxed);
  setvbuf(file, buffer, _IOFBF, size_bytes);
}

Stream* stream_of(FILE* file) {
  const std::size_t used = streams_used.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < used; i++)
    if (streams[i].file.load(std::memory_order_relaxed) == file) return &streams[i];
  return nullptr;
}

// glibc's part of a FILE for wide characters, and the bit of one that has a descriptor.
constexpr std::size_t wide_part_bytes = 232;
constexpr int has_descriptor = 0x2000;

/// Makes a stream one that has just been opened with these flags of open().
void begin_anew(FILE* file, int flags) {
  __fpurge(file);
  clearerr(file);
  const int access = flags & O_ACCMODE;
  file->_flags &= ~(no_reads | no_writes | appends);
  file->_flags |= access == O_RDONLY ? no_writes : access == O_WRONLY ? no_reads : 0;
  if (flags & O_APPEND) file->_flags |= appends;
  file->_offset = -1;  // Unknown.
}

}  // namespace

FILE* make_stream(int descriptor, const char* mode) {
  static NextFunction<FILE*(int, const char*)> next("fdopen");
  if (following(descriptor).what == Following::nothing && !is_standard_input(descriptor))
    return next.get()(descriptor, mode);
  Stream* stream = take_stream();
  if (!stream) return nullptr;
  stream->descriptor.store(descriptor, std::memory_order_relaxed);
  FILE* file = fopencookie(stream, mode, {read_stream, write_stream, seek_stream, close_stream});
  if (!file) {
    stream->taken.store(false, std::memory_order_release);
    return nullptr;
  }
  stream->file.store(file, std::memory_order_relaxed);
  if (following(descriptor).what != Following::nothing) give_buffer(*stream, file);
  return file;
}

FILE* open_stream(replay::Determinants& determinants, const char* path, const char* mode) {
  const int flags = flags_of_mode(mode);
  if (flags < 0) {
    errno = EINVAL;
    return nullptr;
  }
  const int descriptor = open_file(determinants, AT_FDCWD, path, flags, 0666);
  if (descriptor < 0) return nullptr;
  // Where libc's own stands as well.
  if ((flags & O_APPEND) && (flags & O_ACCMODE) == O_WRONLY) seek(&determinants, descriptor, 0, SEEK_END);
  FILE* file = make_stream(descriptor, mode);
  if (!file) real_close(descriptor);
  return file;
}

FILE* reopen_stream(replay::Determinants* determinants, const char* path, const char* mode, FILE* file) {
  const int flags = flags_of_mode(mode);
  const int own = descriptor_of_stream(file);
  fflush(file);
  if (flags < 0) errno = EINVAL;
  int opened = -1;
  if (flags >= 0 && !path)
    opened = static_cast<int>(syscall(SYS_dup, own));
  else if (flags >= 0)
    opened = determinants ? open_file(*determinants, AT_FDCWD, path, flags, 0666)
                          : real_openat(AT_FDCWD, path, flags, 0666);
  if (opened < 0) {
    const int error_number = errno;
    fclose(file);
    errno = error_number;
    return nullptr;
  }
  if (path) {
    const Followed what = following(opened);
    syscall(SYS_dup3, opened, own, flags & O_CLOEXEC);
    follow(own, what);
  } else {
    if (flags & O_TRUNC) empty(determinants, own);
    real_lseek(own, 0, flags & O_APPEND ? SEEK_END : SEEK_SET);
  }
  real_close(opened);
  begin_anew(file, flags);
  return file;
}

int descriptor_of_stream(FILE* file) {
  const Stream* stream = stream_of(file);
  return stream ? descriptor_of(stream) : -1;
}

void give_to_libc(FILE* file) {
  Stream* stream = stream_of(file);
  static NextFunction<FILE*(const char*, const char*)> next("fopen");
  FILE* whole = stream ? next.get()("/dev/null", "r") : nullptr;
  if (!whole) return;
  // It and the buffer stay for as long as the process: fclose() does not free them.
  void* wide_part = std::calloc(1, wide_part_bytes);
  if (wide_part) {
    std::memcpy(wide_part, whole->_wide_data, wide_part_bytes);
    file->_wide_data = static_cast<_IO_wide_data*>(wide_part);
    file->_fileno = descriptor_of(stream);
    file->_flags |= has_descriptor;
    file->_offset = -1;
    file->_mode = 0;
    stream->buffer.store(nullptr, std::memory_order_relaxed);  // It is libc's now, too.
    release(*stream);
  }
  fclose(whole);
}

}  // namespace llamada::mpi::interpose
