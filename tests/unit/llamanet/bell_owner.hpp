#pragma once

#include <fcntl.h>

#include <memory>
#include <optional>

#include "llamada/llamanet/bell.hpp"
#include "llamada/llamanet/mapped_arena.hpp"
#include "llamada/llamanet/memory_source.hpp"
#include "llamada/llamanet/own_arena.hpp"
#include "llamada/llamanet/shared_memory.hpp"
#include "test.hpp"

// Who has an arena and a bell without a driver.

namespace llamada::llamanet {

inline log::ArenaOptions small_arena(std::uint32_t incarnation = 1) {
  log::ArenaOptions options;
  options.log_count_max = options.cursor_count_max = options.endpoint_count_max = 16;
  options.match_count_max = options.grant_count_max = 16;
  options.extent_bytes = 64 << 10;
  options.incarnation = incarnation;
  options.pid = 17;
  return options;
}

/// A descriptor of the same memory, for writing too.
inline FileDescriptor copy_of(int descriptor) {
  FileDescriptor copy(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
  REQUIRE(copy);
  return copy;
}

struct BellOwner {
  static constexpr std::uint64_t arena_size_bytes = 64 << 20;

  BellOwner() {
    const bool needs_fence = !Bell::enter_barriers();
    auto file = MemorySource::open().create_growing("test-arena", arena_size_bytes, 1 << 20);
    REQUIRE(file);
    const int number = file->get();
    auto opened = OwnArena::open(
        std::move(*file), arena_size_bytes,
        [number] { return set_size(number, arena_size_bytes).has_value(); }, small_arena());
    REQUIRE(opened);
    arena = std::move(*opened);
    auto event = create_eventfd();
    REQUIRE(event);
    bell.emplace(KeptDescriptor(std::move(*event)), arena->writer(), needs_fence);
  }
  MappedArena map() const {
    auto mapped = MappedArena::map(arena->file(), arena_size_bytes);
    REQUIRE(mapped);
    return std::move(*mapped);
  }
  bool is_asleep() { return arena->writer().header().sleeping.load() != 0; }

  std::unique_ptr<OwnArena> arena;
  std::optional<Bell> bell;
};

/// A bell as another one sees it, with the mapping that it looks into.
struct Seen {
  explicit Seen(const BellOwner& owner) : memory(owner.map()) {
    doorbell = {memory.header(), KeptDescriptor(copy_of(owner.bell->event()))};
  }
  MappedArena memory;
  Doorbell doorbell;
};

}  // namespace llamada::llamanet
