#include "sqlite_disk.hpp"

#include <dlfcn.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <string>
#include <string_view>
#include <vector>

namespace llamada::test {

namespace {

/// What a write that no sync has confirmed lies upon.
struct Unsynced {
  std::string path;
  off64_t offset;
  std::vector<char> before;
};

SqliteFailure failing;
int failed_calls = 0;
bool is_dead = false, is_watching = false;
std::vector<Unsynced> unsynced;

template <typename Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

/// The path of a file of SQLite, or an empty text. The index of the log is memory: nothing needs it durable.
std::string path_of(int descriptor) {
  if (!is_watching) return {};
  std::array<char, PATH_MAX> path{};
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t length = readlink(link.c_str(), path.data(), path.size());
  const std::string_view text(path.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  return text.find("store.sqlite") == std::string_view::npos ? std::string() : std::string(text);
}

/// The number of errno with which this call fails, or 0.
int error_of(SqliteCall call, std::string_view path) {
  if (is_dead) return EIO;
  if (call != failing.call || failing.count == 0 || !path.ends_with(failing.of)) return 0;
  if (failing.skip > 0) return --failing.skip, 0;
  --failing.count;
  ++failed_calls;
  return failing.error;
}

void note(const std::string& path, int descriptor, off64_t offset, std::size_t count) {
  if (path.ends_with("-shm")) return;
  Unsynced write{path, offset, std::vector<char>(count)};
  const ssize_t had = real<decltype(pread64)>("pread64")(descriptor, write.before.data(), count, offset);
  write.before.resize(had > 0 ? static_cast<std::size_t>(had) : 0);
  write.before.resize(count);
  unsynced.push_back(std::move(write));
}

void forget(std::string_view path) {
  for (auto each = unsynced.rbegin(); each != unsynced.rend(); ++each) {
    if (!path.empty() && each->path != path) continue;
    FILE* file = fopen(each->path.c_str(), "r+");
    if (file == nullptr) continue;
    fseeko(file, each->offset, SEEK_SET);
    fwrite(each->before.data(), 1, each->before.size(), file);
    fclose(file);
  }
  std::erase_if(unsynced, [&](const Unsynced& each) { return path.empty() || each.path == path; });
}

}  // namespace

SqliteDisk::SqliteDisk() {
  is_watching = true;
  is_dead = false;
  failed_calls = 0;
  unsynced.clear();
}
SqliteDisk::~SqliteDisk() {
  is_watching = false;
  failing = {};
}
void SqliteDisk::fail(const SqliteFailure& failure) { failing = failure; }
int SqliteDisk::failed() { return failed_calls; }
void SqliteDisk::die() { is_dead = true; }
void SqliteDisk::lose_power() {
  forget({});
  is_dead = false;
  failing = {};
}

}  // namespace llamada::test

using namespace llamada::test;

#define VISIBLE __attribute__((visibility("default")))

extern "C" {

VISIBLE ssize_t pwrite64(int descriptor, const void* bytes, size_t count, off64_t offset) {
  const std::string path = path_of(descriptor);
  const auto write = real<decltype(pwrite64)>("pwrite64");
  if (path.empty()) return write(descriptor, bytes, count, offset);
  const int error = error_of(SqliteCall::pwrite, path);
  if (error > 0) return errno = error, -1;
  // A short one is followed by one that fails.
  if (error < 0) failing = {.call = SqliteCall::pwrite, .error = EIO, .count = 1}, count = (count + 1) / 2;
  note(path, descriptor, offset, count);
  return write(descriptor, bytes, count, offset);
}

VISIBLE ssize_t pread64(int descriptor, void* bytes, size_t count, off64_t offset) {
  const std::string path = path_of(descriptor);
  const int error = path.empty() ? 0 : error_of(SqliteCall::pread, path);
  if (error > 0) return errno = error, -1;
  return real<decltype(pread64)>("pread64")(descriptor, bytes, count, offset);
}

VISIBLE int ftruncate64(int descriptor, off64_t length) {
  const std::string path = path_of(descriptor);
  const int error = path.empty() ? 0 : error_of(SqliteCall::ftruncate, path);
  if (error > 0) return errno = error, -1;
  return real<decltype(ftruncate64)>("ftruncate64")(descriptor, length);
}

VISIBLE int fdatasync(int descriptor) {
  const std::string path = path_of(descriptor);
  if (path.empty()) return real<decltype(fdatasync)>("fdatasync")(descriptor);
  if (const int error = error_of(SqliteCall::fdatasync, path); error > 0) {
    if (failing.forgets && !is_dead) forget(path);
    return errno = error, -1;
  }
  std::erase_if(unsynced, [&](const Unsynced& each) { return each.path == path; });
  return 0;
}
}
