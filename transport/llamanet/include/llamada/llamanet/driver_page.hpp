#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "llamada/base/page.hpp"

// The page that the driver alone writes and everybody maps read-only: the roster. The layout is that of
// docs/internals/driver-protocol.md.

namespace llamada::llamanet {

inline constexpr std::uint64_t page_magic = 0x0032454741504C4C;  // "LLPAGE2\0"
inline constexpr std::size_t page_header_size_bytes = page_bytes;

/// The file of an arena is so long at first, or as the arena if that is less; who owns the arena makes it
/// longer before using what lies behind. Nobody may touch what its mapping has behind the file's end.
inline constexpr std::uint64_t arena_bytes_at_first = 8 << 20;

enum class SlotState : std::uint32_t {
  free = 0,
  expected = 1,
  attached = 2,
  dead = 3,
  done = 4,
  finalized = 5,      ///< of another node's slot only: its application waits at the end of MPI_Finalize
  lost = 6,           ///< its application has died, nobody takes its place, and the others go on
  lost_with_node = 7  ///< of another node's slot only: the same, and its driver is gone, too
};

/// Whether the application has died for good, and the others go on.
constexpr bool is_lost(SlotState state) {
  return state == SlotState::lost || state == SlotState::lost_with_node;
}

struct alignas(64) DriverPage {
  std::uint64_t magic;
  std::uint32_t slot_count_max;
  std::atomic<std::uint32_t> slot_count;  ///< slots in use or once used; release, pairs with peers' acquire
  std::byte reserved_1[48];
  std::atomic<std::uint64_t> generation;  ///< release: one more after every change of the roster
  std::atomic<std::uint32_t> is_protected;
  std::atomic<std::uint32_t> ending;
  std::atomic<std::uint64_t> log_bytes_max;  ///< 0: no limit. A test may make it lower
  std::uint64_t arena_size_bytes;         ///< of each arena: what is mapped of its file, however long that is
  std::uint64_t start_ns;                 ///< when the driver started (CLOCK_MONOTONIC)
  std::atomic<std::uint32_t> arena_last;  ///< the last serial number that it gave to an arena
  std::atomic<std::uint32_t> has_arena;   ///< release: 1 once the driver has an arena of its own
  std::atomic<std::uint32_t> survey;  ///< release: one more whenever somebody asks what applications wait for
  std::uint32_t node;                 ///< of this driver; 0 in a job on one node
  std::uint32_t arenas_on_disk;       ///< 1: the slots' arenas lie in log_directory
  std::byte reserved_2[4];
  std::atomic<std::uint64_t> cut;  ///< release: the number of the present cut; 0: the job makes none
  std::byte reserved_3[56];
};
static_assert(sizeof(DriverPage) == 192);
static_assert(offsetof(DriverPage, slot_count) == 12);
static_assert(offsetof(DriverPage, generation) == 64);
static_assert(offsetof(DriverPage, is_protected) == 72);
static_assert(offsetof(DriverPage, ending) == 76);
static_assert(offsetof(DriverPage, log_bytes_max) == 80);
static_assert(offsetof(DriverPage, arena_size_bytes) == 88);
static_assert(offsetof(DriverPage, start_ns) == 96);
static_assert(offsetof(DriverPage, arena_last) == 104);
static_assert(offsetof(DriverPage, has_arena) == 108);
static_assert(offsetof(DriverPage, survey) == 112);
static_assert(offsetof(DriverPage, node) == 116);
static_assert(offsetof(DriverPage, arenas_on_disk) == 120);
static_assert(offsetof(DriverPage, cut) == 128);

/// One of slot_count_max entries from page_header_size_bytes on.
struct alignas(64) PageSlot {
  std::atomic<std::uint32_t> state;  ///< a SlotState; release: the rest of the entry is written before it
  std::atomic<std::uint32_t> incarnation;
  std::atomic<std::uint32_t> pid;
  std::atomic<std::uint32_t>
      arena;  ///< the serial number of the slot's arena, 0 for none; no two arenas share one
  std::atomic<std::uint32_t> deaths;
  std::atomic<std::uint32_t>
      node;  ///< where its application runs: other than DriverPage::node, it has no arena here
  std::atomic<std::uint64_t> process_start;  ///< of `pid`, see start_of_process(); 0: unknown
};
static_assert(sizeof(PageSlot) == 64);
static_assert(offsetof(PageSlot, node) == 20);
static_assert(offsetof(PageSlot, process_start) == 24);

inline std::size_t page_size_bytes(std::uint32_t slot_count_max) {
  return page_header_size_bytes + sizeof(PageSlot) * slot_count_max;
}
/// Whether so many bytes are a page that this version knows, with arenas that have room for their header.
inline bool is_page(const std::byte* bytes, std::size_t size_bytes, std::size_t arena_header_bytes) {
  if (size_bytes < page_header_size_bytes) return false;
  const auto& page = *reinterpret_cast<const DriverPage*>(bytes);
  return page.magic == page_magic && page_size_bytes(page.slot_count_max) <= size_bytes &&
         page.arena_size_bytes >= arena_header_bytes;
}
inline const PageSlot* page_slots(const DriverPage* page) {
  return reinterpret_cast<const PageSlot*>(reinterpret_cast<const std::byte*>(page) + page_header_size_bytes);
}
inline PageSlot* page_slots(DriverPage* page) {
  return reinterpret_cast<PageSlot*>(reinterpret_cast<std::byte*>(page) + page_header_size_bytes);
}

}  // namespace llamada::llamanet
