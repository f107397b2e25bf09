#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "interpose/file_calls.hpp"
#include "interpose/opening.hpp"
#include "interpose/queries.hpp"

// The functions of libc that ask the file system something, as libmpi exports them.

using namespace llamada::mpi;
using interpose::Arguments;
using interpose::FileCall;
using interpose::FileOutcome;
using interpose::Query;
using replay::Determinants;

namespace {

/// A question whose answer is one object of a fixed size, which `ask` fills.
template <typename Answer>
long ask_for(Determinants& determinants, FileCall what, const Arguments& arguments, Answer* answer,
             const std::function<long()>& ask) {
  Query question{.call = what, .digest = arguments.digest()};
  question.ask = [&](std::vector<std::byte>& bytes) {
    const auto outcome = FileOutcome::of(ask());
    const auto* begin = reinterpret_cast<const std::byte*>(answer);
    if (outcome.error_number == 0) bytes.insert(bytes.end(), begin, begin + sizeof *answer);
    return outcome;
  };
  question.take = [&](std::span<const std::byte> bytes, bool repeated) {
    if (repeated && bytes.size() == sizeof *answer) std::memcpy(answer, bytes.data(), sizeof *answer);
  };
  return interpose::query(determinants, question);
}

int status_at(Determinants* determinants, int folder, const char* path, struct stat* found, int flags) {
  const auto ask = [&]() -> long { return syscall(SYS_newfstatat, folder, path, found, flags); };
  if (!determinants) return static_cast<int>(ask());
  const bool is_descriptor = path && !*path && (flags & AT_EMPTY_PATH);
  if (!is_descriptor) interpose::folder_must_be_there(*determinants, folder);
  return static_cast<int>(
      ask_for(*determinants, FileCall::status, Arguments().add(path).number(flags), found, ask));
}

int status_of(Determinants* determinants, int descriptor, struct stat* found) {
  const int failed = interpose::real_fstat(descriptor, found);
  // Of a terminal or a pipe nothing changes that a program asks for; of others the answer is recorded.
  if (failed || !determinants || !(S_ISREG(found->st_mode) || S_ISDIR(found->st_mode))) return failed;
  const interpose::Followed what = interpose::following(descriptor);
  return static_cast<int>(ask_for(*determinants, FileCall::status, Arguments(), found, [&] {
    interpose::must_be_there(*determinants, descriptor, what);
    return long{interpose::real_fstat(descriptor, found)};  // it may be another file now
  }));
}

int access_at(Determinants* determinants, int folder, const char* path, int mode, int flags) {
  static interpose::NextFunction<int(int, const char*, int, int)> next("faccessat");
  const auto ask = [&]() -> long { return next.get()(folder, path, mode, flags); };
  if (!determinants) return static_cast<int>(ask());
  interpose::folder_must_be_there(*determinants, folder);
  Query question{.call = FileCall::access};
  question.digest = Arguments().add(path).number(mode).number(flags).digest();
  question.ask = [&](std::vector<std::byte>&) { return FileOutcome::of(ask()); };
  return static_cast<int>(interpose::query(*determinants, question));
}

ssize_t read_link_at(Determinants* determinants, int folder, const char* path, char* text,
                     size_t size_bytes) {
  const auto ask = [&](char* to) { return syscall(SYS_readlinkat, folder, path, to, size_bytes); };
  if (!determinants) return ask(text);
  interpose::folder_must_be_there(*determinants, folder);
  Query question{.call = FileCall::read_link, .digest = Arguments().add(path).number(size_bytes).digest()};
  question.ask = [&](std::vector<std::byte>& answer) {
    const auto outcome = FileOutcome::of(ask(text));
    const auto* begin = reinterpret_cast<const std::byte*>(text);
    if (outcome.result > 0) answer.insert(answer.end(), begin, begin + outcome.result);
    return outcome;
  };
  question.take = [&](std::span<const std::byte> answer, bool) {
    std::memcpy(text, answer.data(), std::min(answer.size(), size_bytes));
  };
  return interpose::query(*determinants, question);
}

char* resolve(Determinants* determinants, const char* path, char* text,
              const std::function<char*(char*)>& ask) {
  if (!determinants) return ask(text);
  char* given = text;
  Query question{.call = FileCall::resolve, .digest = Arguments().add(path).digest()};
  question.ask = [&](std::vector<std::byte>& answer) {
    char found[PATH_MAX];
    if (!ask(found)) return FileOutcome{-1, errno};
    const auto* begin = reinterpret_cast<const std::byte*>(found);
    answer.insert(answer.end(), begin, begin + std::strlen(found) + 1);
    return FileOutcome{};
  };
  question.take = [&](std::span<const std::byte> answer, bool) {
    if (answer.empty()) return;
    if (!given) given = static_cast<char*>(std::malloc(answer.size()));
    if (given) std::memcpy(given, answer.data(), answer.size());
  };
  return interpose::query(*determinants, question) == 0 ? given : nullptr;
}

}  // namespace

int interpose::status(const char* path, struct stat* found, int flags) {
  return status_at(determinants_of_caller(), AT_FDCWD, path, found, flags);
}

extern "C" {

LLAMADA_INTERPOSED int stat(const char* path, struct stat* found) noexcept {
  return status_at(interpose::recorder_of(LLAMADA_CALLER), AT_FDCWD, path, found, 0);
}
LLAMADA_INTERPOSED int stat64(const char*, struct stat64*) noexcept __attribute__((alias("stat")));

LLAMADA_INTERPOSED int lstat(const char* path, struct stat* found) noexcept {
  return status_at(interpose::recorder_of(LLAMADA_CALLER), AT_FDCWD, path, found, AT_SYMLINK_NOFOLLOW);
}
LLAMADA_INTERPOSED int lstat64(const char*, struct stat64*) noexcept __attribute__((alias("lstat")));

LLAMADA_INTERPOSED int fstatat(int folder, const char* path, struct stat* found, int flags) noexcept {
  return status_at(interpose::recorder_of(LLAMADA_CALLER), folder, path, found, flags);
}
LLAMADA_INTERPOSED int fstatat64(int, const char*, struct stat64*, int) noexcept
    __attribute__((alias("fstatat")));

LLAMADA_INTERPOSED int fstat(int descriptor, struct stat* found) noexcept {
  return status_of(interpose::recorder_of(LLAMADA_CALLER), descriptor, found);
}
LLAMADA_INTERPOSED int fstat64(int, struct stat64*) noexcept __attribute__((alias("fstat")));

// What programs call that were linked with a glibc before 2.33.
LLAMADA_INTERPOSED int __xstat(int, const char* path, struct stat* found) noexcept {
  return status_at(interpose::recorder_of(LLAMADA_CALLER), AT_FDCWD, path, found, 0);
}
LLAMADA_INTERPOSED int __xstat64(int, const char*, struct stat64*) noexcept __attribute__((alias("__xstat")));
LLAMADA_INTERPOSED int __lxstat(int, const char* path, struct stat* found) noexcept {
  return status_at(interpose::recorder_of(LLAMADA_CALLER), AT_FDCWD, path, found, AT_SYMLINK_NOFOLLOW);
}
LLAMADA_INTERPOSED int __lxstat64(int, const char*, struct stat64*) noexcept
    __attribute__((alias("__lxstat")));
LLAMADA_INTERPOSED int __fxstat(int, int descriptor, struct stat* found) noexcept {
  return status_of(interpose::recorder_of(LLAMADA_CALLER), descriptor, found);
}
LLAMADA_INTERPOSED int __fxstat64(int, int, struct stat64*) noexcept __attribute__((alias("__fxstat")));
LLAMADA_INTERPOSED int __fxstatat(int, int folder, const char* path, struct stat* found, int flags) noexcept {
  return status_at(interpose::recorder_of(LLAMADA_CALLER), folder, path, found, flags);
}
LLAMADA_INTERPOSED int __fxstatat64(int, int, const char*, struct stat64*, int) noexcept
    __attribute__((alias("__fxstatat")));

LLAMADA_INTERPOSED int statx(int folder, const char* path, int flags, unsigned mask,
                             struct statx* found) noexcept {
  const auto ask = [&]() -> long { return syscall(SYS_statx, folder, path, flags, mask, found); };
  auto* determinants = interpose::recorder_of(LLAMADA_CALLER);
  if (!determinants) return static_cast<int>(ask());
  const Arguments arguments = Arguments().add(path).number(flags).number(mask);
  return static_cast<int>(ask_for(*determinants, FileCall::status, arguments, found, ask));
}

LLAMADA_INTERPOSED int access(const char* path, int mode) noexcept {
  return access_at(interpose::recorder_of(LLAMADA_CALLER), AT_FDCWD, path, mode, 0);
}

LLAMADA_INTERPOSED int faccessat(int folder, const char* path, int mode, int flags) noexcept {
  return access_at(interpose::recorder_of(LLAMADA_CALLER), folder, path, mode, flags);
}

LLAMADA_INTERPOSED int euidaccess(const char* path, int mode) noexcept {
  return access_at(interpose::recorder_of(LLAMADA_CALLER), AT_FDCWD, path, mode, AT_EACCESS);
}
LLAMADA_INTERPOSED int eaccess(const char*, int) noexcept __attribute__((alias("euidaccess")));

LLAMADA_INTERPOSED ssize_t readlink(const char* path, char* text, size_t size_bytes) noexcept {
  return read_link_at(interpose::recorder_of(LLAMADA_CALLER), AT_FDCWD, path, text, size_bytes);
}

LLAMADA_INTERPOSED ssize_t readlinkat(int folder, const char* path, char* text, size_t size_bytes) noexcept {
  return read_link_at(interpose::recorder_of(LLAMADA_CALLER), folder, path, text, size_bytes);
}

// What _FORTIFY_SOURCE makes of these.
LLAMADA_INTERPOSED ssize_t __readlink_chk(const char* path, char* text, size_t size_bytes,
                                          size_t room_bytes) {
  if (size_bytes > room_bytes) std::abort();
  return read_link_at(interpose::recorder_of(LLAMADA_CALLER), AT_FDCWD, path, text, size_bytes);
}
LLAMADA_INTERPOSED ssize_t __readlinkat_chk(int folder, const char* path, char* text, size_t size_bytes,
                                            size_t room_bytes) {
  if (size_bytes > room_bytes) std::abort();
  return read_link_at(interpose::recorder_of(LLAMADA_CALLER), folder, path, text, size_bytes);
}

LLAMADA_INTERPOSED char* __realpath_chk(const char* path, char* text, size_t room_bytes) {
  if (room_bytes < PATH_MAX) std::abort();
  static interpose::NextFunction<char*(const char*, char*)> next("realpath");
  return resolve(interpose::recorder_of(LLAMADA_CALLER), path, text,
                 [&](char* to) { return next.get()(path, to); });
}

LLAMADA_INTERPOSED char* realpath(const char* path, char* text) noexcept {
  static interpose::NextFunction<char*(const char*, char*)> next("realpath");
  return resolve(interpose::recorder_of(LLAMADA_CALLER), path, text,
                 [&](char* to) { return next.get()(path, to); });
}

LLAMADA_INTERPOSED char* canonicalize_file_name(const char* path) noexcept {
  static interpose::NextFunction<char*(const char*, char*)> next("realpath");
  return resolve(interpose::recorder_of(LLAMADA_CALLER), path, nullptr,
                 [&](char* to) { return next.get()(path, to); });
}

LLAMADA_INTERPOSED int statfs(const char* path, struct statfs* found) noexcept {
  const auto ask = [&]() -> long { return syscall(SYS_statfs, path, found); };
  auto* determinants = interpose::recorder_of(LLAMADA_CALLER);
  if (!determinants) return static_cast<int>(ask());
  return static_cast<int>(ask_for(*determinants, FileCall::file_system, Arguments().add(path), found, ask));
}
LLAMADA_INTERPOSED int statfs64(const char*, struct statfs64*) noexcept __attribute__((alias("statfs")));

LLAMADA_INTERPOSED int fstatfs(int descriptor, struct statfs* found) noexcept {
  const auto ask = [&]() -> long { return syscall(SYS_fstatfs, descriptor, found); };
  auto* determinants = interpose::recorder_of(LLAMADA_CALLER);
  if (!determinants) return static_cast<int>(ask());
  return static_cast<int>(ask_for(*determinants, FileCall::file_system, Arguments(), found, ask));
}
LLAMADA_INTERPOSED int fstatfs64(int, struct statfs64*) noexcept __attribute__((alias("fstatfs")));

LLAMADA_INTERPOSED int statvfs(const char* path, struct statvfs* found) noexcept {
  static interpose::NextFunction<int(const char*, struct statvfs*)> next("statvfs");
  const auto ask = [&]() -> long { return next.get()(path, found); };
  auto* determinants = interpose::recorder_of(LLAMADA_CALLER);
  if (!determinants) return static_cast<int>(ask());
  return static_cast<int>(ask_for(*determinants, FileCall::file_system, Arguments().add(path), found, ask));
}
LLAMADA_INTERPOSED int statvfs64(const char*, struct statvfs64*) noexcept __attribute__((alias("statvfs")));

LLAMADA_INTERPOSED int fstatvfs(int descriptor, struct statvfs* found) noexcept {
  static interpose::NextFunction<int(int, struct statvfs*)> next("fstatvfs");
  const auto ask = [&]() -> long { return next.get()(descriptor, found); };
  auto* determinants = interpose::recorder_of(LLAMADA_CALLER);
  if (!determinants) return static_cast<int>(ask());
  return static_cast<int>(ask_for(*determinants, FileCall::file_system, Arguments(), found, ask));
}
LLAMADA_INTERPOSED int fstatvfs64(int, struct statvfs64*) noexcept __attribute__((alias("fstatvfs")));

}  // extern "C"
