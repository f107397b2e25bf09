#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <unordered_map>
#include <vector>

#include "interpose/file_calls.hpp"
#include "interpose/opening.hpp"
#include "interpose/queries.hpp"

// What a rank reads from directories: each entry is recorded. A replacement whose predecessor's directory is
// there no more reads from the record alone.

using namespace llamada::mpi;
using interpose::Arguments;
using interpose::FileCall;
using interpose::FileOutcome;
using interpose::Query;
using replay::Determinants;

namespace {

/// A directory that the rank has open.
struct Directory {
  dirent entry{};            ///< what readdir() gave last
  bool is_standing = false;  ///< another one stands for it
};

// Only the rank's thread uses it.
std::unordered_map<DIR*, std::unique_ptr<Directory>>& directories() {
  static auto* all = new std::unordered_map<DIR*, std::unique_ptr<Directory>>;
  return *all;
}

Directory* directory_of(DIR* stream) {
  const auto found = directories().find(stream);
  return found == directories().end() ? nullptr : found->second.get();
}

/// Opens a directory by `open`; gives any other one where a replacement does not find it any more.
DIR* open_recorded(Determinants& determinants, const Arguments& arguments,
                   const std::function<DIR*()>& open) {
  static interpose::NextFunction<DIR*(const char*)> next("opendir");
  DIR* stream = nullptr;
  bool is_standing = false;
  Query opening{.call = FileCall::open_directory, .digest = arguments.digest()};
  opening.ask = [&](std::vector<std::byte>&) {
    stream = open();
    return FileOutcome{stream ? 0 : -1, stream ? 0 : errno};
  };
  opening.take = [&](std::span<const std::byte>, bool repeated) {
    if (!repeated) return;
    stream = open();
    if (stream) return;
    stream = next.get()("/");
    is_standing = true;
  };
  const long result = interpose::query(determinants, opening);
  if (result < 0) {
    const int error_number = errno;
    static interpose::NextFunction<int(DIR*)> close("closedir");
    if (stream) close.get()(stream);
    errno = error_number;
    return nullptr;
  }
  auto directory = std::make_unique<Directory>();
  directory->is_standing = is_standing;
  directories()[stream] = std::move(directory);
  return stream;
}

dirent* read_recorded(Determinants& determinants, DIR* stream, Directory& directory) {
  static interpose::NextFunction<dirent*(DIR*)> next("readdir");
  const int error_before = errno;
  Query reading{.call = FileCall::read_directory};
  reading.ask = [&](std::vector<std::byte>& answer) {
    if (directory.is_standing)
      determinants.diverged(
          "a directory that its predecessor had open was removed, and the replacement has to read it again");
    errno = 0;
    const dirent* entry = next.get()(stream);
    if (!entry) return FileOutcome{errno ? -1 : 0, errno};
    const auto* begin = reinterpret_cast<const std::byte*>(entry);
    answer.insert(answer.end(), begin, begin + offsetof(dirent, d_name) + std::strlen(entry->d_name) + 1);
    return FileOutcome{1, 0};
  };
  reading.take = [&](std::span<const std::byte> answer, bool) {
    std::memcpy(static_cast<void*>(&directory.entry), answer.data(),
                std::min(answer.size(), sizeof directory.entry));
  };
  const long result = interpose::query(determinants, reading);
  if (result >= 0) errno = error_before;
  return result > 0 ? &directory.entry : nullptr;
}

int close_recorded(DIR* stream) {
  static interpose::NextFunction<int(DIR*)> next("closedir");
  directories().erase(stream);
  return next.get()(stream);
}

dirent* read_entry(DIR* stream, const void* caller) {
  static interpose::NextFunction<dirent*(DIR*)> next("readdir");
  auto* determinants = interpose::recorder_of(caller);
  Directory* directory = determinants ? directory_of(stream) : nullptr;
  return directory ? read_recorded(*determinants, stream, *directory) : next.get()(stream);
}

// What glob() asks when the rank calls it: it reads within libc.
void* open_for_glob(const char* path) {
  static interpose::NextFunction<DIR*(const char*)> next("opendir");
  auto* determinants = interpose::determinants_of_caller();
  if (!determinants) return next.get()(path);
  return open_recorded(*determinants, Arguments().add(path), [&] { return next.get()(path); });
}
dirent* read_for_glob(void* stream) { return read_entry(static_cast<DIR*>(stream), nullptr); }
void close_for_glob(void* stream) { close_recorded(static_cast<DIR*>(stream)); }
int status_for_glob(const char* path, struct stat* found) { return interpose::status(path, found, 0); }
int link_status_for_glob(const char* path, struct stat* found) {
  return interpose::status(path, found, AT_SYMLINK_NOFOLLOW);
}

/// The entries of a directory that `select` takes, in the order of `compare`.
int scan(Determinants& determinants, DIR* stream, dirent*** names, int (*select)(const dirent*),
         int (*compare)(const dirent**, const dirent**)) {
  std::vector<dirent*> taken;
  while (const dirent* entry = read_recorded(determinants, stream, *directory_of(stream))) {
    if (select && !select(entry)) continue;
    const std::size_t size = offsetof(dirent, d_name) + std::strlen(entry->d_name) + 1;
    auto* copy = static_cast<dirent*>(std::malloc(std::max(size, sizeof(dirent))));
    std::memcpy(static_cast<void*>(copy), entry, size);
    taken.push_back(copy);
  }
  close_recorded(stream);
  const auto is_before = [&](dirent* left, dirent* right) {
    const dirent *first = left, *second = right;
    return compare(&first, &second) < 0;
  };
  if (compare) std::stable_sort(taken.begin(), taken.end(), is_before);
  auto** all = static_cast<dirent**>(std::calloc(taken.size() + 1, sizeof(void*)));
  std::copy(taken.begin(), taken.end(), all);
  *names = all;
  return static_cast<int>(taken.size());
}

}  // namespace

extern "C" {

LLAMADA_INTERPOSED DIR* opendir(const char* path) {
  static interpose::NextFunction<DIR*(const char*)> next("opendir");
  auto* determinants = interpose::recorder_of(LLAMADA_CALLER);
  if (!determinants) return next.get()(path);
  return open_recorded(*determinants, Arguments().add(path), [&] { return next.get()(path); });
}

LLAMADA_INTERPOSED DIR* fdopendir(int descriptor) {
  static interpose::NextFunction<DIR*(int)> next("fdopendir");
  auto* determinants = interpose::recorder_of(LLAMADA_CALLER);
  if (!determinants) return next.get()(descriptor);
  return open_recorded(*determinants, Arguments(), [&] { return next.get()(descriptor); });
}

LLAMADA_INTERPOSED dirent* readdir(DIR* stream) { return read_entry(stream, LLAMADA_CALLER); }
LLAMADA_INTERPOSED dirent64* readdir64(DIR*) __attribute__((alias("readdir")));

LLAMADA_INTERPOSED int readdir_r(DIR* stream, dirent* entry, dirent** result) {
  const int error_before = errno;
  errno = 0;
  const dirent* found = read_entry(stream, LLAMADA_CALLER);
  const int error_number = errno;
  errno = error_before;
  *result = found ? entry : nullptr;
  if (found)
    std::memcpy(static_cast<void*>(entry), found, offsetof(dirent, d_name) + std::strlen(found->d_name) + 1);
  return found ? 0 : error_number;
}
LLAMADA_INTERPOSED int readdir64_r(DIR*, dirent64*, dirent64**) __attribute__((alias("readdir_r")));

LLAMADA_INTERPOSED int closedir(DIR* stream) {
  static interpose::NextFunction<int(DIR*)> next("closedir");
  return interpose::recorder_of(LLAMADA_CALLER) ? close_recorded(stream) : next.get()(stream);
}

LLAMADA_INTERPOSED int scandir(const char* path, dirent*** names, int (*select)(const dirent*),
                               int (*compare)(const dirent**, const dirent**)) {
  static interpose::NextFunction<int(const char*, dirent***, int (*)(const dirent*),
                                     int (*)(const dirent**, const dirent**))>
      next("scandir");
  auto* determinants = interpose::recorder_of(LLAMADA_CALLER);
  if (!determinants) return next.get()(path, names, select, compare);
  static interpose::NextFunction<DIR*(const char*)> open("opendir");
  DIR* stream = open_recorded(*determinants, Arguments().add(path), [&] { return open.get()(path); });
  return stream ? scan(*determinants, stream, names, select, compare) : -1;
}
LLAMADA_INTERPOSED int scandir64(const char*, dirent64***, int (*)(const dirent64*),
                                 int (*)(const dirent64**, const dirent64**))
    __attribute__((alias("scandir")));

LLAMADA_INTERPOSED int glob(const char* pattern, int flags, int (*on_error)(const char*, int),
                            glob_t* found) {
  static interpose::NextFunction<int(const char*, int, int (*)(const char*, int), glob_t*)> next("glob");
  if (!interpose::recorder_of(LLAMADA_CALLER) || (flags & GLOB_ALTDIRFUNC))
    return next.get()(pattern, flags, on_error, found);
  found->gl_opendir = open_for_glob;
  found->gl_readdir = read_for_glob;
  found->gl_closedir = close_for_glob;
  found->gl_stat = status_for_glob;
  found->gl_lstat = link_status_for_glob;
  const int result = next.get()(pattern, flags | GLOB_ALTDIRFUNC, on_error, found);
  found->gl_flags &= ~GLOB_ALTDIRFUNC;
  return result;
}
LLAMADA_INTERPOSED int glob64(const char*, int, int (*)(const char*, int), glob64_t*)
    __attribute__((alias("glob")));

}  // extern "C"
