#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <string_view>

#include "interpose/functions.hpp"

// /dev/urandom and /dev/random as files: what a rank reads from them is recorded as what getrandom() gives
// is.

using namespace llamada::mpi;

namespace {

constexpr int descriptors_max = 1024;  ///< a descriptor above is not followed
constexpr std::size_t streams_max = 16;

// Descriptors that were opened as such a device. One may have been closed and given to another file since:
// is_random() asks. Relaxed: who reads a descriptor has it from who opened it.
std::array<std::atomic<bool>, descriptors_max> marked{};

// Streams that fopen() gave; null where there is none.
struct Stream {
  std::atomic<FILE*> file{nullptr};
  std::atomic<int> descriptor{-1};
};
std::array<Stream, streams_max> streams{};

bool is_random_path(const char* path) {
  const std::string_view name = path ? path : "";
  return name == "/dev/urandom" || name == "/dev/random";
}

void mark(const char* path, int descriptor) {
  if (descriptor >= 0 && descriptor < descriptors_max && is_random_path(path) &&
      interpose::determinants_of_caller())
    marked[static_cast<std::size_t>(descriptor)].store(true, std::memory_order_relaxed);
}

bool is_random(int descriptor) {
  if (descriptor < 0 || descriptor >= descriptors_max) return false;
  auto& mark = marked[static_cast<std::size_t>(descriptor)];
  if (!mark.load(std::memory_order_relaxed)) return false;
  struct stat found {};
  if (fstat(descriptor, &found) == 0 && S_ISCHR(found.st_mode) && major(found.st_rdev) == 1 &&
      (minor(found.st_rdev) == 8 || minor(found.st_rdev) == 9))
    return true;
  mark.store(false, std::memory_order_relaxed);
  return false;
}

ssize_t real_read(int descriptor, void* buffer, size_t size_bytes) {
  static interpose::NextFunction<ssize_t(int, void*, size_t)> next("read");
  if (auto* function = next.get()) return function(descriptor, buffer, size_bytes);
  return syscall(SYS_read, descriptor, buffer, size_bytes);
}

int real_openat(int folder, const char* path, int flags, mode_t mode) {
  static interpose::NextFunction<int(int, const char*, int, ...)> next("openat");
  if (auto* function = next.get()) return function(folder, path, flags, mode);
  return static_cast<int>(syscall(SYS_openat, folder, path, flags, mode));
}

int open_and_mark(int folder, const char* path, int flags, mode_t mode) {
  const int descriptor = real_openat(folder, path, flags, mode);
  mark(path, descriptor);
  return descriptor;
}

/// The mode that open() was given behind its named arguments, if these say that there is one.
mode_t mode_of(int flags, va_list arguments) {
  const bool has_mode = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
  return has_mode ? va_arg(arguments, mode_t) : 0;
}

int descriptor_of(void* cookie) {
  return static_cast<Stream*>(cookie)->descriptor.load(std::memory_order_relaxed);
}

ssize_t read_stream(void*, char* buffer, size_t size_bytes) {
  return interpose::random_bytes(buffer, size_bytes, 0);
}

ssize_t write_stream(void* cookie, const char* bytes, size_t size_bytes) {
  const ssize_t count = write(descriptor_of(cookie), bytes, size_bytes);
  return count < 0 ? 0 : count;
}

int close_stream(void* cookie) {
  auto* stream = static_cast<Stream*>(cookie);
  const int result = close(descriptor_of(cookie));
  stream->descriptor.store(-1, std::memory_order_relaxed);
  stream->file.store(nullptr, std::memory_order_relaxed);
  return result;
}

int access_of(std::string_view mode) {
  if (mode.find('+') != std::string_view::npos) return O_RDWR;
  return mode.starts_with('r') ? O_RDONLY : O_WRONLY;
}

Stream* free_stream() {
  for (auto& stream : streams)
    if (!stream.file.load(std::memory_order_relaxed)) return &stream;
  return nullptr;
}

/// A stream that reads through read_stream(), unbuffered: so many bytes are recorded as the program asks
/// for. Called by the rank's thread alone. When there are too many streams: null and EMFILE.
FILE* open_stream(const char* path, const char* mode) {
  Stream* stream = free_stream();
  if (!stream) {
    errno = EMFILE;
    return nullptr;
  }
  const int descriptor = open_and_mark(AT_FDCWD, path, access_of(mode) | O_CLOEXEC, 0);
  if (descriptor < 0) return nullptr;
  stream->descriptor.store(descriptor, std::memory_order_relaxed);
  FILE* file = fopencookie(stream, mode, {read_stream, write_stream, nullptr, close_stream});
  if (!file) {
    close(descriptor);
    return nullptr;
  }
  setvbuf(file, nullptr, _IONBF, 0);
  stream->file.store(file, std::memory_order_relaxed);
  return file;
}

FILE* open_any_stream(const char* path, const char* mode) {
  static interpose::NextFunction<FILE*(const char*, const char*)> next("fopen64");
  if (is_random_path(path) && mode && interpose::determinants_of_caller()) return open_stream(path, mode);
  return next.get()(path, mode);
}

}  // namespace

extern "C" {

LLAMADA_INTERPOSED int openat64(int folder, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_and_mark(folder, path, flags, mode);
}

LLAMADA_INTERPOSED int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_and_mark(AT_FDCWD, path, flags, mode);
}

LLAMADA_INTERPOSED int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_and_mark(AT_FDCWD, path, flags, mode);
}

LLAMADA_INTERPOSED int openat(int folder, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_and_mark(folder, path, flags, mode);
}

// What _FORTIFY_SOURCE makes of the above.
LLAMADA_INTERPOSED int __open_2(const char* path, int flags) {
  return open_and_mark(AT_FDCWD, path, flags, 0);
}
LLAMADA_INTERPOSED int __open64_2(const char* path, int flags) {
  return open_and_mark(AT_FDCWD, path, flags, 0);
}
LLAMADA_INTERPOSED int __openat_2(int folder, const char* path, int flags) {
  return open_and_mark(folder, path, flags, 0);
}
LLAMADA_INTERPOSED int __openat64_2(int folder, const char* path, int flags) {
  return open_and_mark(folder, path, flags, 0);
}

LLAMADA_INTERPOSED ssize_t read(int descriptor, void* buffer, size_t size_bytes) {
  if (is_random(descriptor)) return interpose::random_bytes(buffer, size_bytes, 0);
  return real_read(descriptor, buffer, size_bytes);
}

LLAMADA_INTERPOSED ssize_t __read_chk(int descriptor, void* buffer, size_t size_bytes, size_t room_bytes) {
  if (size_bytes > room_bytes) abort();
  return read(descriptor, buffer, size_bytes);
}

LLAMADA_INTERPOSED FILE* fopen(const char* path, const char* mode) { return open_any_stream(path, mode); }

LLAMADA_INTERPOSED FILE* fopen64(const char* path, const char* mode) { return open_any_stream(path, mode); }

/// std::ifstream opens by fopen() and reads by the descriptor.
LLAMADA_INTERPOSED int fileno(FILE* file) noexcept {
  static interpose::NextFunction<int(FILE*)> next("fileno");
  for (auto& stream : streams)
    if (stream.file.load(std::memory_order_relaxed) == file) return descriptor_of(&stream);
  return next.get()(file);
}

}  // extern "C"
