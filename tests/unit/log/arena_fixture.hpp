#pragma once

#include <sys/mman.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "llamada/log/log_reader.hpp"
#include "llamada/log/log_writer.hpp"
#include "test.hpp"

namespace llamada::log {

/// Zeroed memory, taken as it is touched.
class Memory {
 public:
  explicit Memory(std::size_t size_bytes) : size_bytes_(size_bytes) {
    void* mapped = ::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(mapped != MAP_FAILED);
    base_ = static_cast<std::byte*>(mapped);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { ::munmap(base_, size_bytes_); }

  std::span<std::byte> bytes() { return {base_, size_bytes_}; }
  /// What a successor would find if the owner died now.
  std::unique_ptr<Memory> copy() const {
    auto other = std::make_unique<Memory>(size_bytes_);
    std::memcpy(other->base_, base_, size_bytes_);
    return other;
  }

 private:
  std::byte* base_ = nullptr;
  std::size_t size_bytes_;
};

inline ArenaOptions small_arena() {
  ArenaOptions options;
  options.log_count_max = 64;
  options.cursor_count_max = 64;
  options.endpoint_count_max = 16;
  options.match_count_max = 16;
  options.grant_count_max = 16;
  return options;
}

inline std::unique_ptr<ArenaWriter> make_arena(Memory& memory, ArenaOptions options = small_arena()) {
  auto arena = ArenaWriter::open(memory.bytes(), std::move(options));
  REQUIRE(arena.has_value());
  return std::move(*arena);
}

/// `size` bytes that tell which record they belong to.
inline std::vector<std::byte> pattern(std::uint64_t record, std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(record * 31 + i * 7 + (i >> 8));
  return bytes;
}

inline bool holds(std::span<const std::byte> bytes, std::uint64_t record, std::size_t size) {
  return bytes.size() == size && std::ranges::equal(bytes, pattern(record, size));
}

}  // namespace llamada::log
