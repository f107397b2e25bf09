#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "api/protection.hpp"
#include "interpose/appending.hpp"
#include "interpose/descriptors.hpp"
#include "interpose/random_files.hpp"
#include "lifecycle/process.hpp"

// The functions of libc by which a program opens, writes and moves about in files, as libmpi exports them.
// Where the 64 of a name changes nothing one function has both.

using namespace llamada::mpi;
using interpose::Following;

namespace {

/// The mode that open() was given behind its named arguments, if these say that there is one.
mode_t mode_of(int flags, va_list arguments) {
  const bool has_mode = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
  return has_mode ? va_arg(arguments, mode_t) : 0;
}

// The first byte of libmpi, and the one behind its code.
extern "C" __attribute__((visibility("hidden"))) const char __ehdr_start[];
extern "C" __attribute__((visibility("hidden"))) const char etext[];

/// Whether this is an address of libmpi's own code, whose files are none of the program's.
bool is_own(const void* caller) { return caller >= __ehdr_start && caller < etext; }

int open_any(int folder, const char* path, int flags, mode_t mode, const void* caller) {
  if (is_own(caller)) {
    const int descriptor = interpose::real_openat(folder, path, flags, mode);
    interpose::forget(descriptor);
    return descriptor;
  }
  const int descriptor = interpose::open_file(folder, path, flags, mode);
  if (interpose::is_random_path(path) && descriptor >= 0 && interpose::determinants_of_caller())
    interpose::mark_random(descriptor);
  return descriptor;
}

void cannot_be_repeated(const char* what) {
  if (World* world = joined_world())
    give_up_protection(*world, fmt::format("{} cannot be repeated by a replacement", what));
}

/// What is written to the copy is written to the file.
int follow_copy(int descriptor, int copy) {
  if (copy < 0 || copy == descriptor) return copy;
  const int error_number = errno;
  const Following what = interpose::following(descriptor);
  if (copy <= STDERR_FILENO && what >= Following::appended && interpose::determinants_of_caller())
    cannot_be_repeated("a standard stream that appends to a file");
  interpose::follow(copy, what);
  errno = error_number;
  return copy;
}

void follow_flags(int descriptor, int flags) {
  const Following before = interpose::following(descriptor);
  if (before == Following::lost || !interpose::determinants_of_caller()) return;
  if (flags & O_APPEND)
    interpose::follow(descriptor, Following::appended);
  else if (before == Following::appended)
    interpose::follow(descriptor, Following::written);
}

std::vector<char> joined(const iovec* pieces, int count) {
  std::vector<char> all;
  for (int i = 0; i < count; ++i) {
    const auto* bytes = static_cast<const char*>(pieces[i].iov_base);
    all.insert(all.end(), bytes, bytes + pieces[i].iov_len);
  }
  return all;
}

bool is_for_appending(const char* mode) { return mode && mode[0] == 'a'; }
bool is_for_reading(const char* mode) { return mode[0] == 'r' && !std::strchr(mode, '+'); }

}  // namespace

extern "C" {

LLAMADA_INTERPOSED int openat(int folder, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_any(folder, path, flags, mode, __builtin_return_address(0));
}
LLAMADA_INTERPOSED int openat64(int, const char*, int, ...) __attribute__((alias("openat")));

LLAMADA_INTERPOSED int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_any(AT_FDCWD, path, flags, mode, __builtin_return_address(0));
}
LLAMADA_INTERPOSED int open64(const char*, int, ...) __attribute__((alias("open")));

// What _FORTIFY_SOURCE makes of the above.
LLAMADA_INTERPOSED int __open_2(const char* path, int flags) {
  return open_any(AT_FDCWD, path, flags, 0, __builtin_return_address(0));
}
LLAMADA_INTERPOSED int __open64_2(const char*, int) __attribute__((alias("__open_2")));
LLAMADA_INTERPOSED int __openat_2(int folder, const char* path, int flags) {
  return open_any(folder, path, flags, 0, __builtin_return_address(0));
}
LLAMADA_INTERPOSED int __openat64_2(int, const char*, int) __attribute__((alias("__openat_2")));

LLAMADA_INTERPOSED ssize_t write(int descriptor, const void* bytes, size_t size_bytes) {
  if (size_bytes > 0 && interpose::is_appended(descriptor))
    return interpose::append(descriptor, bytes, size_bytes);
  return interpose::real_write(descriptor, bytes, size_bytes);
}

LLAMADA_INTERPOSED ssize_t writev(int descriptor, const iovec* pieces, int count) {
  static interpose::NextFunction<ssize_t(int, const iovec*, int)> next("writev");
  if (!interpose::is_appended(descriptor)) return next.get()(descriptor, pieces, count);
  const std::vector<char> all = joined(pieces, count);
  return write(descriptor, all.data(), all.size());
}

LLAMADA_INTERPOSED off_t lseek(int descriptor, off_t offset, int whence) noexcept {
  return interpose::seek(descriptor, offset, whence);
}
LLAMADA_INTERPOSED off64_t lseek64(int, off64_t, int) noexcept __attribute__((alias("lseek")));

LLAMADA_INTERPOSED int fstat(int descriptor, struct stat* found) noexcept {
  return interpose::stat_file(descriptor, found);
}
LLAMADA_INTERPOSED int fstat64(int, struct stat64*) noexcept __attribute__((alias("fstat")));

LLAMADA_INTERPOSED int dup(int descriptor) noexcept {
  static interpose::NextFunction<int(int)> next("dup");
  return follow_copy(descriptor, next.get()(descriptor));
}

LLAMADA_INTERPOSED int dup2(int descriptor, int copy) noexcept {
  static interpose::NextFunction<int(int, int)> next("dup2");
  return follow_copy(descriptor, next.get()(descriptor, copy));
}

LLAMADA_INTERPOSED int dup3(int descriptor, int copy, int flags) noexcept {
  static interpose::NextFunction<int(int, int, int)> next("dup3");
  return follow_copy(descriptor, next.get()(descriptor, copy, flags));
}

LLAMADA_INTERPOSED int fcntl(int descriptor, int command, ...) {
  static interpose::NextFunction<int(int, int, ...)> next("fcntl");
  va_list arguments;
  va_start(arguments, command);
  void* argument = va_arg(arguments, void*);
  va_end(arguments);
  const int result = next.get()(descriptor, command, argument);
  if (result < 0) return result;
  if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) return follow_copy(descriptor, result);
  if (command == F_SETFL) follow_flags(descriptor, static_cast<int>(reinterpret_cast<intptr_t>(argument)));
  return result;
}
LLAMADA_INTERPOSED int fcntl64(int, int, ...) __attribute__((alias("fcntl")));

LLAMADA_INTERPOSED FILE* fopen(const char* path, const char* mode) {
  static interpose::NextFunction<FILE*(const char*, const char*)> next("fopen");
  if (mode && path && interpose::determinants_of_caller()) {
    if (interpose::is_random_path(path)) return interpose::open_random_stream(path, mode);
    if (is_for_appending(mode)) return interpose::open_appended_stream(path, mode);
  }
  FILE* file = next.get()(path, mode);
  if (file && interpose::determinants_of_caller())
    interpose::follow(fileno(file), is_for_reading(mode) ? Following::nothing : Following::written);
  return file;
}
LLAMADA_INTERPOSED FILE* fopen64(const char*, const char*) __attribute__((alias("fopen")));

LLAMADA_INTERPOSED FILE* fdopen(int descriptor, const char* mode) noexcept {
  static interpose::NextFunction<FILE*(int, const char*)> next("fdopen");
  if (is_for_appending(mode) && !interpose::is_appended(descriptor)) {
    const int flags = fcntl(descriptor, F_GETFL);
    if (flags >= 0 && !(flags & O_APPEND)) fcntl(descriptor, F_SETFL, flags | O_APPEND);
  }
  if (interpose::is_appended(descriptor)) return interpose::make_appended_stream(descriptor, mode);
  return next.get()(descriptor, mode);
}

LLAMADA_INTERPOSED FILE* freopen(const char* path, const char* mode, FILE* file) {
  static interpose::NextFunction<FILE*(const char*, const char*, FILE*)> next("freopen");
  if (path && is_for_appending(mode) && interpose::determinants_of_caller())
    cannot_be_repeated("freopen() for appending");
  return next.get()(path, mode, file);
}
LLAMADA_INTERPOSED FILE* freopen64(const char*, const char*, FILE*) __attribute__((alias("freopen")));

/// libstdc++'s streams open by fopen(), and read and write by the descriptor.
LLAMADA_INTERPOSED int fileno(FILE* file) noexcept {
  static interpose::NextFunction<int(FILE*)> next("fileno");
  if (const int descriptor = interpose::descriptor_of_random(file); descriptor >= 0) return descriptor;
  if (const int descriptor = interpose::descriptor_of_appended(file); descriptor >= 0) return descriptor;
  return next.get()(file);
}
LLAMADA_INTERPOSED int fileno_unlocked(FILE*) noexcept __attribute__((alias("fileno")));

}  // extern "C"
