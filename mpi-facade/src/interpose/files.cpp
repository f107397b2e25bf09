#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <vector>

#include "interpose/appending.hpp"
#include "interpose/commands.hpp"
#include "interpose/descriptor_numbers.hpp"
#include "interpose/file_calls.hpp"
#include "interpose/opening.hpp"
#include "interpose/random_files.hpp"
#include "interpose/standard_input.hpp"
#include "interpose/streams.hpp"
#include "interpose/transfers.hpp"

// The functions of libc by which a program opens files, reads, writes and moves about in them, as libmpi
// exports them. Where the 64 of a name changes nothing one function has both.

using namespace llamada::mpi;
using interpose::Followed;
using interpose::Following;
using replay::Determinants;

namespace {

/// The mode that open() was given behind its named arguments, if these say that there is one.
mode_t mode_of(int flags, va_list arguments) {
  const bool has_mode = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
  return has_mode ? va_arg(arguments, mode_t) : 0;
}

bool changes_files(int flags) { return (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC)); }

/// Devices take what is written to them from whichever thread.
bool is_device(const char* path) {
  return path && std::strncmp(path, "/dev/", 5) == 0 && std::strncmp(path, "/dev/shm/", 9) != 0;
}

int open_any(int folder, const char* path, int flags, mode_t mode, const void* caller) {
  Determinants* determinants = changes_files(flags) && !is_device(path)
                                   ? interpose::recorder_of_change(caller, "open")
                                   : interpose::recorder_of(caller);
  if (determinants && !interpose::is_random_path(path))
    return interpose::open_file(*determinants, folder, path, flags, mode);
  const int descriptor = interpose::real_openat(folder, path, flags, mode);
  if (descriptor < 0) return descriptor;
  interpose::forget(descriptor);
  if (determinants) interpose::mark_random(descriptor);
  return descriptor;
}

/// The recorder, if the caller is the rank and the descriptor is followed.
struct Transfer {
  Followed what;
  Determinants* determinants = nullptr;
  Transfer(int descriptor, const void* caller) : what(interpose::following(descriptor)) {
    if (what.what != Following::nothing) determinants = interpose::recorder_of(caller);
  }
  explicit operator bool() const { return determinants != nullptr; }
};

void follow_flags(int descriptor, int flags, const void* caller) {
  Followed what = interpose::following(descriptor);
  const bool is_for_writing = what.what == Following::written || what.what == Following::appended;
  if (!is_for_writing || !interpose::recorder_of(caller)) return;
  what.what = flags & O_APPEND ? Following::appended : Following::written;
  interpose::follow(descriptor, what);
}

/// A call that takes a lock, or lets it go. The kernel took a lock from the predecessor when it died. Waiting
/// for it again might take for ever, so `again` does not wait.
int lock(Determinants& determinants, const interpose::Arguments& arguments, const std::function<int()>& now,
         const std::function<int()>& again) {
  interpose::Change locking{.call = interpose::FileCall::lock, .digest = arguments.digest()};
  locking.act = [&](std::uint64_t, bool) { return interpose::FileOutcome::of(now()); };
  locking.repeated = [&](std::uint64_t, const interpose::FileOutcome& outcome) {
    if (outcome.result == 0) again();
  };
  return static_cast<int>(interpose::change(determinants, locking));
}

bool is_lock(int command) {
  return command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK || command == F_OFD_SETLKW;
}
int without_waiting(int command) {
  return command == F_SETLKW ? F_SETLK : command == F_OFD_SETLKW ? F_OFD_SETLK : command;
}

std::vector<char> joined(const iovec* pieces, int count) {
  std::vector<char> all;
  for (int i = 0; i < count; ++i) {
    const auto* bytes = static_cast<const char*>(pieces[i].iov_base);
    all.insert(all.end(), bytes, bytes + pieces[i].iov_len);
  }
  return all;
}

/// Reads into one piece of memory by `read`, and from there into all of them.
ssize_t scatter(const iovec* pieces, int count, const std::function<ssize_t(std::vector<char>&)>& read) {
  std::size_t size = 0;
  for (int i = 0; i < count; ++i) size += pieces[i].iov_len;
  std::vector<char> all(size);
  const ssize_t got = read(all);
  const char* from = all.data();
  for (ssize_t left = got; left > 0; ++pieces) {
    const auto part = std::min<std::size_t>(static_cast<std::size_t>(left), pieces->iov_len);
    std::memcpy(pieces->iov_base, from, part);
    from += part;
    left -= static_cast<ssize_t>(part);
  }
  return got;
}

ssize_t read_scattered(const Transfer& transfer, int descriptor, const iovec* pieces, int count,
                       off_t place) {
  return scatter(pieces, count, [&](std::vector<char>& all) {
    return interpose::read_followed(*transfer.determinants, descriptor, transfer.what, all.data(), all.size(),
                                    place);
  });
}

ssize_t read_input_scattered(Determinants& determinants, int descriptor, const iovec* pieces, int count) {
  return scatter(pieces, count, [&](std::vector<char>& all) {
    return interpose::read_input(determinants, descriptor, all.data(), all.size());
  });
}

Determinants* recorder_of_input(int descriptor, const void* caller) {
  return interpose::is_standard_input(descriptor) ? interpose::recorder_of(caller) : nullptr;
}

bool is_for_appending(const char* mode) { return mode && mode[0] == 'a'; }

/// Opens a stream on another file. libc reads and writes what such a stream holds by itself: what it writes
/// is written again by a replacement, at the same places.
FILE* open_stream_anew(Determinants& determinants, const char* path, const char* mode, FILE* file,
                       const void* caller) {
  static interpose::NextFunction<FILE*(const char*, const char*, FILE*)> next("freopen");
  file = interpose::give_back_standard_input(file);
  const int flags = interpose::flags_of_mode(mode);
  if (flags < 0 || is_device(path)) return next.get()(path, mode, file);
  if (is_for_appending(mode)) interpose::cannot_be_repeated(caller, "freopen() for appending");
  const int descriptor = interpose::open_file(determinants, AT_FDCWD, path, flags, 0666);
  const Followed what = interpose::following(descriptor);
  if (what.what == Following::kept)
    interpose::cannot_be_repeated(caller, "freopen() of a file that may change, for reading");
  if (descriptor < 0 || !next.get()("/dev/null", mode, file)) {
    const int error_number = errno;
    fclose(file);
    if (descriptor >= 0) interpose::real_close(descriptor);
    errno = error_number;
    return nullptr;
  }
  static interpose::NextFunction<int(int, int)> copy("dup2");
  copy.get()(descriptor, fileno(file));
  interpose::forget(fileno(file));
  interpose::real_close(descriptor);
  return file;
}

}  // namespace

extern "C" {

LLAMADA_INTERPOSED int openat(int folder, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_any(folder, path, flags, mode, LLAMADA_CALLER);
}
LLAMADA_INTERPOSED int openat64(int, const char*, int, ...) __attribute__((alias("openat")));

LLAMADA_INTERPOSED int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_any(AT_FDCWD, path, flags, mode, LLAMADA_CALLER);
}
LLAMADA_INTERPOSED int open64(const char*, int, ...) __attribute__((alias("open")));

// What _FORTIFY_SOURCE makes of the above.
LLAMADA_INTERPOSED int __open_2(const char* path, int flags) {
  return open_any(AT_FDCWD, path, flags, 0, LLAMADA_CALLER);
}
LLAMADA_INTERPOSED int __open64_2(const char*, int) __attribute__((alias("__open_2")));
LLAMADA_INTERPOSED int __openat_2(int folder, const char* path, int flags) {
  return open_any(folder, path, flags, 0, LLAMADA_CALLER);
}
LLAMADA_INTERPOSED int __openat64_2(int, const char*, int) __attribute__((alias("__openat_2")));

LLAMADA_INTERPOSED int creat(const char* path, mode_t mode) {
  return open_any(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, mode, LLAMADA_CALLER);
}
LLAMADA_INTERPOSED int creat64(const char*, mode_t) __attribute__((alias("creat")));

LLAMADA_INTERPOSED ssize_t read(int descriptor, void* buffer, size_t size_bytes) {
  if (interpose::is_random(descriptor)) return interpose::random_bytes(buffer, size_bytes, 0);
  if (auto* determinants = recorder_of_input(descriptor, LLAMADA_CALLER))
    return interpose::read_input(*determinants, descriptor, buffer, size_bytes);
  if (const Transfer transfer(descriptor, LLAMADA_CALLER); transfer)
    return interpose::read_followed(*transfer.determinants, descriptor, transfer.what, buffer, size_bytes);
  return interpose::real_read(descriptor, buffer, size_bytes);
}

LLAMADA_INTERPOSED ssize_t __read_chk(int descriptor, void* buffer, size_t size_bytes, size_t room_bytes) {
  if (size_bytes > room_bytes) abort();
  if (auto* determinants = recorder_of_input(descriptor, LLAMADA_CALLER))
    return interpose::read_input(*determinants, descriptor, buffer, size_bytes);
  if (const Transfer transfer(descriptor, LLAMADA_CALLER); transfer)
    return interpose::read_followed(*transfer.determinants, descriptor, transfer.what, buffer, size_bytes);
  return read(descriptor, buffer, size_bytes);
}

LLAMADA_INTERPOSED ssize_t pread(int descriptor, void* buffer, size_t size_bytes, off_t place) {
  static interpose::NextFunction<ssize_t(int, void*, size_t, off_t)> next("pread");
  if (const Transfer transfer(descriptor, LLAMADA_CALLER); transfer && place >= 0)
    return interpose::read_followed(*transfer.determinants, descriptor, transfer.what, buffer, size_bytes,
                                    place);
  return next.get()(descriptor, buffer, size_bytes, place);
}
LLAMADA_INTERPOSED ssize_t pread64(int, void*, size_t, off64_t) __attribute__((alias("pread")));

LLAMADA_INTERPOSED ssize_t __pread_chk(int descriptor, void* buffer, size_t size_bytes, off_t place,
                                       size_t room_bytes) {
  if (size_bytes > room_bytes) abort();
  static interpose::NextFunction<ssize_t(int, void*, size_t, off_t)> next("pread");
  if (const Transfer transfer(descriptor, LLAMADA_CALLER); transfer && place >= 0)
    return interpose::read_followed(*transfer.determinants, descriptor, transfer.what, buffer, size_bytes,
                                    place);
  return next.get()(descriptor, buffer, size_bytes, place);
}
LLAMADA_INTERPOSED ssize_t __pread64_chk(int, void*, size_t, off64_t, size_t)
    __attribute__((alias("__pread_chk")));

LLAMADA_INTERPOSED ssize_t readv(int descriptor, const iovec* pieces, int count) {
  static interpose::NextFunction<ssize_t(int, const iovec*, int)> next("readv");
  if (const Transfer transfer(descriptor, LLAMADA_CALLER); transfer)
    return read_scattered(transfer, descriptor, pieces, count, interpose::at_offset);
  if (auto* determinants = recorder_of_input(descriptor, LLAMADA_CALLER))
    return read_input_scattered(*determinants, descriptor, pieces, count);
  return next.get()(descriptor, pieces, count);
}

LLAMADA_INTERPOSED ssize_t preadv(int descriptor, const iovec* pieces, int count, off_t place) {
  static interpose::NextFunction<ssize_t(int, const iovec*, int, off_t)> next("preadv");
  if (const Transfer transfer(descriptor, LLAMADA_CALLER); transfer && place >= 0)
    return read_scattered(transfer, descriptor, pieces, count, place);
  return next.get()(descriptor, pieces, count, place);
}
LLAMADA_INTERPOSED ssize_t preadv64(int, const iovec*, int, off64_t) __attribute__((alias("preadv")));

// Without flags, and at the descriptor's own offset where the place is -1: one of the above.
LLAMADA_INTERPOSED ssize_t preadv2(int descriptor, const iovec* pieces, int count, off_t place, int flags) {
  static interpose::NextFunction<ssize_t(int, const iovec*, int, off_t, int)> next("preadv2");
  if (flags == 0)
    return place == -1 ? readv(descriptor, pieces, count) : preadv(descriptor, pieces, count, place);
  if (const Transfer transfer(descriptor, LLAMADA_CALLER); transfer)
    interpose::cannot_be_repeated(LLAMADA_CALLER, "preadv2() with flags");
  return next.get()(descriptor, pieces, count, place, flags);
}
LLAMADA_INTERPOSED ssize_t preadv64v2(int, const iovec*, int, off64_t, int) __attribute__((alias("preadv2")));

LLAMADA_INTERPOSED ssize_t write(int descriptor, const void* bytes, size_t size_bytes) {
  if (const Transfer transfer(descriptor, LLAMADA_CALLER); transfer && size_bytes > 0)
    return interpose::write_followed(*transfer.determinants, descriptor, transfer.what, bytes, size_bytes);
  return interpose::real_write(descriptor, bytes, size_bytes);
}

LLAMADA_INTERPOSED ssize_t pwrite(int descriptor, const void* bytes, size_t size_bytes, off_t place) {
  static interpose::NextFunction<ssize_t(int, const void*, size_t, off_t)> next("pwrite");
  if (const Transfer transfer(descriptor, LLAMADA_CALLER); transfer && place >= 0)
    return interpose::write_followed(*transfer.determinants, descriptor, transfer.what, bytes, size_bytes,
                                     place);
  return next.get()(descriptor, bytes, size_bytes, place);
}
LLAMADA_INTERPOSED ssize_t pwrite64(int, const void*, size_t, off64_t) __attribute__((alias("pwrite")));

LLAMADA_INTERPOSED ssize_t writev(int descriptor, const iovec* pieces, int count) {
  static interpose::NextFunction<ssize_t(int, const iovec*, int)> next("writev");
  const Transfer transfer(descriptor, LLAMADA_CALLER);
  if (!transfer) return next.get()(descriptor, pieces, count);
  const std::vector<char> all = joined(pieces, count);
  return interpose::write_followed(*transfer.determinants, descriptor, transfer.what, all.data(), all.size());
}

LLAMADA_INTERPOSED ssize_t pwritev(int descriptor, const iovec* pieces, int count, off_t place) {
  static interpose::NextFunction<ssize_t(int, const iovec*, int, off_t)> next("pwritev");
  const Transfer transfer(descriptor, LLAMADA_CALLER);
  if (!transfer || place < 0) return next.get()(descriptor, pieces, count, place);
  const std::vector<char> all = joined(pieces, count);
  return interpose::write_followed(*transfer.determinants, descriptor, transfer.what, all.data(), all.size(),
                                   place);
}
LLAMADA_INTERPOSED ssize_t pwritev64(int, const iovec*, int, off64_t) __attribute__((alias("pwritev")));

LLAMADA_INTERPOSED ssize_t pwritev2(int descriptor, const iovec* pieces, int count, off_t place, int flags) {
  static interpose::NextFunction<ssize_t(int, const iovec*, int, off_t, int)> next("pwritev2");
  if (flags == 0)
    return place == -1 ? writev(descriptor, pieces, count) : pwritev(descriptor, pieces, count, place);
  if (const Transfer transfer(descriptor, LLAMADA_CALLER); transfer)
    interpose::cannot_be_repeated(LLAMADA_CALLER, "pwritev2() with flags");
  return next.get()(descriptor, pieces, count, place, flags);
}
LLAMADA_INTERPOSED ssize_t pwritev64v2(int, const iovec*, int, off64_t, int)
    __attribute__((alias("pwritev2")));

LLAMADA_INTERPOSED off_t lseek(int descriptor, off_t offset, int whence) noexcept {
  return interpose::seek(whence == SEEK_END ? interpose::recorder_of(LLAMADA_CALLER) : nullptr, descriptor,
                         offset, whence);
}
LLAMADA_INTERPOSED off64_t lseek64(int, off64_t, int) noexcept __attribute__((alias("lseek")));

LLAMADA_INTERPOSED int ftruncate(int descriptor, off_t size_bytes) noexcept {
  static interpose::NextFunction<int(int, off_t)> next("ftruncate");
  if (const Transfer transfer(descriptor, LLAMADA_CALLER); transfer)
    return static_cast<int>(interpose::truncate_followed(*transfer.determinants, descriptor, size_bytes));
  return next.get()(descriptor, size_bytes);
}
LLAMADA_INTERPOSED int ftruncate64(int, off64_t) noexcept __attribute__((alias("ftruncate")));

LLAMADA_INTERPOSED int flock(int descriptor, int operation) noexcept {
  static interpose::NextFunction<int(int, int)> next("flock");
  auto* determinants = interpose::recorder_of(LLAMADA_CALLER);
  if (!determinants) return next.get()(descriptor, operation);
  return lock(
      *determinants, interpose::Arguments().number(operation),
      [&] { return next.get()(descriptor, operation); },
      [&] { return next.get()(descriptor, operation | LOCK_NB); });
}

LLAMADA_INTERPOSED int lockf(int descriptor, int command, off_t size_bytes) {
  static interpose::NextFunction<int(int, int, off_t)> next("lockf");
  auto* determinants = interpose::recorder_of(LLAMADA_CALLER);
  if (!determinants) return next.get()(descriptor, command, size_bytes);
  return lock(
      *determinants, interpose::Arguments().number(command).number(size_bytes),
      [&] { return next.get()(descriptor, command, size_bytes); },
      [&] { return next.get()(descriptor, command == F_LOCK ? F_TLOCK : command, size_bytes); });
}
LLAMADA_INTERPOSED int lockf64(int, int, off64_t) __attribute__((alias("lockf")));

LLAMADA_INTERPOSED int fcntl(int descriptor, int command, ...) {
  static interpose::NextFunction<int(int, int, ...)> next("fcntl");
  va_list arguments;
  va_start(arguments, command);
  void* argument = va_arg(arguments, void*);
  va_end(arguments);
  if (Determinants* determinants = is_lock(command) ? interpose::recorder_of(LLAMADA_CALLER) : nullptr)
    return lock(
        *determinants, interpose::Arguments().number(command).add(argument, sizeof(struct flock)),
        [&] { return next.get()(descriptor, command, argument); },
        [&] { return next.get()(descriptor, without_waiting(command), argument); });
  const int result = next.get()(descriptor, command, argument);
  if (result < 0) return result;
  if (command == F_DUPFD || command == F_DUPFD_CLOEXEC)
    return interpose::follow_copy(descriptor, result, LLAMADA_CALLER);
  if (command == F_SETFL)
    follow_flags(descriptor, static_cast<int>(reinterpret_cast<intptr_t>(argument)), LLAMADA_CALLER);
  return result;
}
LLAMADA_INTERPOSED int fcntl64(int, int, ...) __attribute__((alias("fcntl")));

LLAMADA_INTERPOSED FILE* fopen(const char* path, const char* mode) {
  static interpose::NextFunction<FILE*(const char*, const char*)> next("fopen");
  const int flags = interpose::flags_of_mode(mode);
  Determinants* determinants = flags >= 0 && changes_files(flags) && !is_device(path)
                                   ? interpose::recorder_of_change(LLAMADA_CALLER, "fopen")
                                   : interpose::recorder_of(LLAMADA_CALLER);
  if (!determinants || !path || flags < 0) return next.get()(path, mode);
  if (std::strstr(mode, ",ccs=")) {
    interpose::cannot_be_repeated(LLAMADA_CALLER, interpose::wide_file);
    return next.get()(path, mode);
  }
  if (interpose::is_random_path(path)) return interpose::open_random_stream(path, mode);
  return interpose::open_stream(*determinants, path, mode);
}
LLAMADA_INTERPOSED FILE* fopen64(const char*, const char*) __attribute__((alias("fopen")));

LLAMADA_INTERPOSED FILE* fdopen(int descriptor, const char* mode) noexcept {
  static interpose::NextFunction<FILE*(int, const char*)> next("fdopen");
  if (!interpose::recorder_of(LLAMADA_CALLER)) return next.get()(descriptor, mode);
  const Followed what = interpose::following(descriptor);
  if (is_for_appending(mode) && what.what == Following::written) {
    const int flags = fcntl(descriptor, F_GETFL);
    fcntl(descriptor, F_SETFL, flags | O_APPEND);
    interpose::follow(descriptor, {Following::appended, what.standing, what.file});
  }
  return interpose::make_stream(descriptor, mode);
}

LLAMADA_INTERPOSED FILE* freopen(const char* path, const char* mode, FILE* file) {
  static interpose::NextFunction<FILE*(const char*, const char*, FILE*)> next("freopen");
  Determinants* determinants = interpose::recorder_of(LLAMADA_CALLER);
  if (file && interpose::descriptor_of_stream(file) >= 0)
    return interpose::reopen_stream(determinants, path, mode, file);
  if (!determinants || !path || !file) return next.get()(path, mode, file);
  return open_stream_anew(*determinants, path, mode, file, LLAMADA_CALLER);
}
LLAMADA_INTERPOSED FILE* freopen64(const char*, const char*, FILE*) __attribute__((alias("freopen")));

/// libstdc++'s streams open by fopen(), and read and write by the descriptor.
LLAMADA_INTERPOSED int fileno(FILE* file) noexcept {
  static interpose::NextFunction<int(FILE*)> next("fileno");
  if (const int descriptor = interpose::descriptor_of_random(file); descriptor >= 0) return descriptor;
  if (const int descriptor = interpose::descriptor_of_stream(file); descriptor >= 0) return descriptor;
  if (const int descriptor = interpose::descriptor_of_command(file); descriptor >= 0) return descriptor;
  return next.get()(file);
}
LLAMADA_INTERPOSED int fileno_unlocked(FILE*) noexcept __attribute__((alias("fileno")));

}  // extern "C"
