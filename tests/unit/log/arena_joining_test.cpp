// Free memory of the pool is joined with its neighbours and used again in other shapes.

#include <cstring>
#include <random>

#include "arena_fixture.hpp"
#include "llamada/log/free_extents.hpp"

namespace llamada::log {
namespace {

using Extent = FreeExtents::Extent;

constexpr std::size_t memory_bytes = 8 << 20;

/// Sizes of descriptions, tables of slots, samples and small logs.
ChunkShape random_shape(std::mt19937& random) {
  const std::uint64_t payload_bytes = 64 * (1 + random() % (random() % 8 == 0 ? 900 : 20));
  return {random() % 3 == 0 ? static_cast<std::uint32_t>(2 + random() % 60) : 0, payload_bytes};
}

/// Whether all cells are such that a reader finds no record there.
bool is_without_records(ArenaWriter& arena, const Chunk& chunk) {
  const auto* cells = reinterpret_cast<const Cell*>(arena.base() + chunk.cells());
  for (std::uint32_t k = 0; k < chunk.cell_count; ++k) {
    const std::uint32_t commit = cells[k].commit.load();
    if (commit == chunk.generation || commit == announced(chunk.generation)) return false;
  }
  return true;
}

TEST_CASE("free extents: the smallest that fits is found, and the rest is never too small", "[log]") {
  FreeExtents free;
  free.add({1000, 128});
  free.add({2000, 200});
  free.add({3000, 1000});
  CHECK(free.find(128, 128) == Extent{1000, 128});
  CHECK(free.find(100, 64) == Extent{2000, 200});
  CHECK(free.find(150, 128) == Extent{3000, 1000});
  CHECK(!free.find(900, 128));
  CHECK(free.before(1128) == Extent{1000, 128});
  CHECK(!free.before(1127));
  free.remove({1000, 128});
  CHECK(!free.at(1000));
}

TEST_CASE("joining: chunks of all shapes come and go, and the pool stays as it is", "[log]") {
  Memory memory(memory_bytes);
  auto arena = make_arena(memory);
  std::mt19937 random(20261127);
  std::vector<std::pair<Chunk, std::uint64_t>> used;
  std::uint64_t used_then = 0;
  for (std::uint64_t round = 0; round < 40'000; ++round) {
    if (used.size() > 60 || (!used.empty() && random() % 2 == 0)) {
      std::swap(used[random() % used.size()], used.back());
      const auto [chunk, number] = used.back();
      const std::span<const std::byte> payload(arena->base() + chunk.payload(), chunk.payload_bytes);
      if (!holds(payload, number, payload.size())) FAIL("another chunk has written into this one");
      arena->release(chunk);
      used.pop_back();
    } else {
      auto chunk = arena->allocate(random_shape(random), 0);
      REQUIRE(chunk);
      if (!is_without_records(*arena, *chunk)) FAIL("old memory passes for a record");
      const auto bytes = pattern(round, chunk->payload_bytes);
      std::copy(bytes.begin(), bytes.end(), arena->base() + chunk->payload());
      std::memset(arena->base() + chunk->cells(), 1, chunk->cell_count * cell_size_bytes);
      used.emplace_back(*chunk, round);
    }
    if (round % 500 == 0) REQUIRE(arena->find_damage().empty());
    if (round == 20'000) used_then = arena->pool_used();
  }
  CHECK(arena->pool_used() <= used_then + used_then / 10);
  for (const auto& [chunk, number] : used) arena->release(chunk);
  CHECK(arena->pool_live() == 0);
  // All of it is one piece again.
  const std::uint64_t all_bytes = arena->pool_used();
  CHECK(arena->allocate({0, all_bytes - sizeof(ChunkHeader)}, 0));
  CHECK(arena->pool_used() == all_bytes);
}

TEST_CASE("joining: a successor finds the pool whole", "[log]") {
  Memory memory(memory_bytes);
  auto arena = make_arena(memory);
  std::mt19937 random(7);
  std::vector<Chunk> used;
  for (int round = 0; round < 1000; ++round) {
    if (used.size() > 20) {
      std::swap(used[random() % used.size()], used.back());
      arena->release(used.back());
      used.pop_back();
    }
    auto chunk = arena->allocate(random_shape(random), 0);
    REQUIRE(chunk);
    used.push_back(*chunk);
    if (round % 10 != 0) continue;
    auto left = memory.copy();
    auto adopted = ArenaWriter::adopt(left->bytes(), small_arena());
    REQUIRE(adopted);
    CHECK((*adopted)->pool_used() == arena->pool_used());
  }
}

}  // namespace
}  // namespace llamada::log
