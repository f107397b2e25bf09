#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <string_view>

#include "interpose/appending.hpp"
#include "interpose/descriptors.hpp"

// libc writes what its own streams hold past our write(). So the stream of a file that is appended to is one
// of ours, which writes by append().

namespace llamada::mpi::interpose {
namespace {

constexpr std::size_t streams_max = 256;

// Relaxed: who uses a stream has it from who opened it.
struct Stream {
  std::atomic<bool> taken{false};
  std::atomic<FILE*> file{nullptr};
  std::atomic<int> descriptor{-1};
};
std::array<Stream, streams_max> streams{};

int descriptor_of(const void* cookie) {
  return static_cast<const Stream*>(cookie)->descriptor.load(std::memory_order_relaxed);
}

ssize_t read_stream(void* cookie, char* buffer, size_t size_bytes) {
  return read(descriptor_of(cookie), buffer, size_bytes);
}

ssize_t write_stream(void* cookie, const char* bytes, size_t size_bytes) {
  const ssize_t count = write(descriptor_of(cookie), bytes, size_bytes);
  return count < 0 ? 0 : count;
}

int seek_stream(void* cookie, off64_t* offset, int whence) {
  const off_t place = seek(descriptor_of(cookie), *offset, whence);
  if (place < 0) return -1;
  *offset = place;
  return 0;
}

int close_stream(void* cookie) {
  auto* stream = static_cast<Stream*>(cookie);
  const int result = close(descriptor_of(cookie));
  stream->file.store(nullptr, std::memory_order_relaxed);
  stream->taken.store(false, std::memory_order_release);
  return result;
}

Stream* take_stream() {
  for (auto& stream : streams)
    if (!stream.taken.exchange(true, std::memory_order_acquire)) return &stream;
  errno = EMFILE;
  return nullptr;
}

}  // namespace

FILE* make_appended_stream(int descriptor, const char* mode) {
  Stream* stream = take_stream();
  if (!stream) return nullptr;
  stream->descriptor.store(descriptor, std::memory_order_relaxed);
  FILE* file = fopencookie(stream, mode, {read_stream, write_stream, seek_stream, close_stream});
  if (file)
    stream->file.store(file, std::memory_order_relaxed);
  else
    stream->taken.store(false, std::memory_order_release);
  return file;
}

FILE* open_appended_stream(const char* path, const char* mode) {
  const std::string_view letters = mode;
  int flags = O_CREAT | O_APPEND | (letters.find('+') == std::string_view::npos ? O_WRONLY : O_RDWR);
  if (letters.find('e') != std::string_view::npos) flags |= O_CLOEXEC;
  if (letters.find('x') != std::string_view::npos) flags |= O_EXCL;
  const int descriptor = open_file(AT_FDCWD, path, flags, 0666);
  if (descriptor < 0) return nullptr;
  // Where libc's own stands as well.
  if (flags & O_WRONLY) seek(descriptor, 0, SEEK_END);
  FILE* file = make_appended_stream(descriptor, mode);
  if (!file) close(descriptor);
  return file;
}

int descriptor_of_appended(FILE* file) {
  for (auto& stream : streams)
    if (stream.file.load(std::memory_order_relaxed) == file) return descriptor_of(&stream);
  return -1;
}

}  // namespace llamada::mpi::interpose
