#include "interpose/random_files.hpp"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <string_view>

#include "interpose/descriptors.hpp"

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

}  // namespace

namespace llamada::mpi::interpose {

bool is_random_path(const char* path) {
  const std::string_view name = path ? path : "";
  return name == "/dev/urandom" || name == "/dev/random";
}

bool is_random(int descriptor) {
  if (descriptor < 0 || descriptor >= descriptors_max) return false;
  auto& mark = marked[static_cast<std::size_t>(descriptor)];
  if (!mark.load(std::memory_order_relaxed)) return false;
  struct stat found {};
  if (real_fstat(descriptor, &found) == 0 && S_ISCHR(found.st_mode) && major(found.st_rdev) == 1 &&
      (minor(found.st_rdev) == 8 || minor(found.st_rdev) == 9))
    return true;
  mark.store(false, std::memory_order_relaxed);
  return false;
}

void mark_random(int descriptor) {
  if (descriptor >= 0 && descriptor < descriptors_max)
    marked[static_cast<std::size_t>(descriptor)].store(true, std::memory_order_relaxed);
}

// Unbuffered: so many bytes are recorded as the program asks for.
FILE* open_random_stream(const char* path, const char* mode) {
  Stream* stream = free_stream();
  if (!stream) {
    errno = EMFILE;
    return nullptr;
  }
  const int descriptor = real_openat(AT_FDCWD, path, access_of(mode) | O_CLOEXEC, 0);
  if (descriptor < 0) return nullptr;
  mark_random(descriptor);
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

int descriptor_of_random(FILE* file) {
  for (auto& stream : streams)
    if (stream.file.load(std::memory_order_relaxed) == file) return descriptor_of(&stream);
  return -1;
}

}  // namespace llamada::mpi::interpose
