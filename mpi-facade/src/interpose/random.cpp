#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "interpose/functions.hpp"

// Random numbers that the kernel gives, by all of libc's functions for them (std::random_device uses these).

namespace llamada::mpi::interpose {

long random_bytes(void* buffer, unsigned long size_bytes, unsigned flags) {
  auto* determinants = determinants_of_caller();
  if (!determinants) return syscall(SYS_getrandom, buffer, size_bytes, flags);
  long result = 0;
  const std::size_t count = determinants->read_random(
      {static_cast<std::byte*>(buffer), size_bytes}, [&](std::span<std::byte> bytes) {
        result = syscall(SYS_getrandom, bytes.data(), bytes.size(), flags);
        return result < 0 ? std::size_t{0} : static_cast<std::size_t>(result);
      });
  return result < 0 ? result : static_cast<long>(count);
}

}  // namespace llamada::mpi::interpose

namespace {

constexpr std::size_t getentropy_bytes_max = 256;

/// All of the buffer, however large; a signal may cut a large request short.
void fill(void* buffer, std::size_t size_bytes) {
  auto* next = static_cast<std::byte*>(buffer);
  while (size_bytes > 0) {
    const long count = llamada::mpi::interpose::random_bytes(next, size_bytes, 0);
    if (count < 0 && errno != EINTR) abort();  // As libc's own does: there is no answer without randomness.
    if (count <= 0) continue;
    next += count;
    size_bytes -= static_cast<std::size_t>(count);
  }
}

std::uint32_t random_word() {
  std::uint32_t word = 0;
  fill(&word, sizeof word);
  return word;
}

}  // namespace

extern "C" {

LLAMADA_INTERPOSED ssize_t getrandom(void* buffer, size_t size_bytes, unsigned flags) {
  return llamada::mpi::interpose::random_bytes(buffer, size_bytes, flags);
}

LLAMADA_INTERPOSED int getentropy(void* buffer, size_t size_bytes) {
  if (size_bytes > getentropy_bytes_max) {
    errno = EIO;
    return -1;
  }
  fill(buffer, size_bytes);
  return 0;
}

LLAMADA_INTERPOSED void arc4random_buf(void* buffer, size_t size_bytes) noexcept { fill(buffer, size_bytes); }

LLAMADA_INTERPOSED std::uint32_t arc4random() noexcept { return random_word(); }

/// Uniform below `bound`: words from the incomplete last stretch of multiples of it are drawn again.
LLAMADA_INTERPOSED std::uint32_t arc4random_uniform(std::uint32_t bound) noexcept {
  if (bound < 2) return 0;
  const std::uint32_t first_good = -bound % bound;
  std::uint32_t word = random_word();
  while (word < first_good) word = random_word();
  return word % bound;
}

/// std::random_device::operator(): libstdc++ asks the processor's own generator, which can be recorded only
/// here.
LLAMADA_INTERPOSED unsigned _ZNSt13random_device9_M_getvalEv(void* device) {
  static llamada::mpi::interpose::NextFunction<unsigned(void*)> next("_ZNSt13random_device9_M_getvalEv");
  if (llamada::mpi::interpose::determinants_of_caller()) return random_word();
  return next.get()(device);
}

}  // extern "C"
