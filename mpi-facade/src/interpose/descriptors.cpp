#include "interpose/descriptors.hpp"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>

namespace llamada::mpi::interpose {
namespace {

constexpr int descriptors_max = 1 << 16;  // untouched memory costs nothing

// Relaxed: who uses a descriptor has it from who opened it.
struct Entry {
  std::atomic<bool> is_used{false};
  std::atomic<Following> what{Following::nothing};
  std::atomic<Standing> standing{Standing::real};
  std::atomic<std::uint64_t> file{0};
  // Of the file that is open, be it one that stands for another.
  std::atomic<dev_t> device{0};
  std::atomic<ino_t> inode{0};
};
std::array<Entry, descriptors_max> entries{};
std::atomic<int> entries_end{0};  // above all that have been used

Entry* entry_of(int descriptor) {
  return descriptor >= 0 && descriptor < descriptors_max ? &entries[static_cast<std::size_t>(descriptor)]
                                                         : nullptr;
}

bool is_still(const Entry& entry, int descriptor) {
  struct stat found {};
  return real_fstat(descriptor, &found) == 0 &&
         found.st_dev == entry.device.load(std::memory_order_relaxed) &&
         found.st_ino == entry.inode.load(std::memory_order_relaxed);
}

}  // namespace

void forget(int descriptor) {
  if (Entry* entry = entry_of(descriptor)) entry->is_used.store(false, std::memory_order_relaxed);
}

bool follow(int descriptor, const Followed& what) {
  Entry* entry = entry_of(descriptor);
  if (!entry) return descriptor < 0 || what.what == Following::nothing;
  forget(descriptor);
  struct stat found {};
  const bool is_remembered = what.what != Following::nothing || what.standing != Standing::real;
  if (!is_remembered || real_fstat(descriptor, &found) != 0) return true;
  if (!S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode)) return true;
  entry->device.store(found.st_dev, std::memory_order_relaxed);
  entry->inode.store(found.st_ino, std::memory_order_relaxed);
  entry->standing.store(what.standing, std::memory_order_relaxed);
  entry->file.store(what.file, std::memory_order_relaxed);
  entry->what.store(what.what, std::memory_order_relaxed);
  entry->is_used.store(true, std::memory_order_relaxed);
  int end = entries_end.load(std::memory_order_relaxed);
  while (end <= descriptor &&
         !entries_end.compare_exchange_weak(end, descriptor + 1, std::memory_order_relaxed)) {
  }
  return true;
}

int next_followed(int first, std::uint64_t file) {
  const int end = entries_end.load(std::memory_order_relaxed);
  for (int descriptor = first; descriptor < end; ++descriptor) {
    const Entry& entry = entries[static_cast<std::size_t>(descriptor)];
    if (entry.is_used.load(std::memory_order_relaxed) && entry.file.load(std::memory_order_relaxed) == file &&
        following(descriptor).what != Following::nothing)
      return descriptor;
  }
  return -1;
}

Followed following(int descriptor) {
  Entry* entry = entry_of(descriptor);
  if (!entry || !entry->is_used.load(std::memory_order_relaxed)) return {};
  if (!is_still(*entry, descriptor)) {
    forget(descriptor);
    return {};
  }
  return {entry->what.load(std::memory_order_relaxed), entry->standing.load(std::memory_order_relaxed),
          entry->file.load(std::memory_order_relaxed)};
}

int real_openat(int folder, const char* path, int flags, mode_t mode) {
  static NextFunction<int(int, const char*, int, ...)> next("openat");
  if (auto* function = next.get()) return function(folder, path, flags, mode);
  return static_cast<int>(syscall(SYS_openat, folder, path, flags, mode));
}

ssize_t real_write(int descriptor, const void* bytes, std::size_t size_bytes) {
  static NextFunction<ssize_t(int, const void*, std::size_t)> next("write");
  if (auto* function = next.get()) return function(descriptor, bytes, size_bytes);
  return syscall(SYS_write, descriptor, bytes, size_bytes);
}

ssize_t real_read(int descriptor, void* bytes, std::size_t size_bytes) {
  static NextFunction<ssize_t(int, void*, std::size_t)> next("read");
  if (auto* function = next.get()) return function(descriptor, bytes, size_bytes);
  return syscall(SYS_read, descriptor, bytes, size_bytes);
}

int real_close(int descriptor) { return static_cast<int>(syscall(SYS_close, descriptor)); }

int real_fstat(int descriptor, struct stat* found) {
  return static_cast<int>(syscall(SYS_fstat, descriptor, found));
}

std::uint64_t size_of(int descriptor) {
  struct stat found {};
  return real_fstat(descriptor, &found) == 0 ? static_cast<std::uint64_t>(found.st_size) : 0;
}

off_t real_lseek(int descriptor, off_t offset, int whence) {
  return syscall(SYS_lseek, descriptor, offset, whence);
}

}  // namespace llamada::mpi::interpose
