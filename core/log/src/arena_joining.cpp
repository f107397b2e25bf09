// How the pool's memory changes its shape: chunks that no reader can look at any more are joined with their
// neighbours, and taken apart again.
//
// The pool is a row of chunks from header to header, and a successor walks it after a death at any
// instruction. So each store here leaves a row that is whole: joined memory is a chunk without cells, of
// which one store changes the size. Cells become payload, and payload cells, by way of a second chunk of the
// cells' size, whose header is written before the first one gets shorter. Nobody else takes such memory for
// records: the generation goes on, and cells begin as zeros.
#include <cstring>
#include <mutex>

#include "llamada/base/crash_point.hpp"
#include "llamada/log/arena_writer.hpp"

namespace llamada::log {
namespace {

using Extent = FreeExtents::Extent;

constexpr std::uint64_t header_bytes = sizeof(ChunkHeader);
/// A header, and some payload.
constexpr std::uint64_t chunk_bytes_min = header_bytes + 64;

}  // namespace

std::optional<Extent> FreeExtents::at(Offset offset) const {
  const auto found = by_place_.find(offset);
  if (found == by_place_.end()) return std::nullopt;
  return Extent{found->first, found->second};
}

std::optional<Extent> FreeExtents::before(Offset offset) const {
  auto found = by_place_.lower_bound(offset);
  if (found == by_place_.begin()) return std::nullopt;
  --found;
  const Extent extent{found->first, found->second};
  return extent.end() == offset ? std::optional(extent) : std::nullopt;
}

std::optional<Extent> FreeExtents::find(std::uint64_t size_bytes, std::uint64_t rest_min_bytes) const {
  auto found = by_size_.lower_bound({size_bytes, 0});
  if (found != by_size_.end() && found->first != size_bytes)
    found = by_size_.lower_bound({size_bytes + rest_min_bytes, 0});
  if (found == by_size_.end()) return std::nullopt;
  return Extent{found->second, found->first};
}

void FreeExtents::add(const Extent& extent) {
  by_place_.emplace(extent.offset, extent.size_bytes);
  by_size_.emplace(extent.size_bytes, extent.offset);
}

void FreeExtents::remove(const Extent& extent) {
  by_place_.erase(extent.offset);
  by_size_.erase({extent.size_bytes, extent.offset});
}

// Stores that a successor sees in this order.

void ArenaWriter::put_free_header(Offset offset, std::uint64_t size_bytes) {
  auto& to = *reinterpret_cast<ChunkHeader*>(base() + offset);
  to.cell_count = 0;
  to.payload_bytes = size_bytes - header_bytes;
  to.ordinal = 0;
  to.records_before = 0;
  to.filled.store(0, std::memory_order_relaxed);
  to.generation.store(1, std::memory_order_release);  // pairs with read_chunk()
}

void ArenaWriter::set_payload_bytes(Offset offset, std::uint64_t payload_bytes) {
  auto& to = *reinterpret_cast<ChunkHeader*>(base() + offset);
  __atomic_store_n(&to.payload_bytes, payload_bytes, __ATOMIC_RELEASE);
}

void ArenaWriter::set_cell_count(Offset offset, std::uint32_t cell_count) {
  auto& to = *reinterpret_cast<ChunkHeader*>(base() + offset);
  __atomic_store_n(&to.cell_count, cell_count, __ATOMIC_RELEASE);
}

/// Its cells become payload.
void ArenaWriter::drop_cells(const Chunk& chunk) {
  if (chunk.cell_count == 0) return;
  const std::uint64_t cells_bytes = std::uint64_t{chunk.cell_count} * cell_size_bytes;
  put_free_header(chunk.end() - cells_bytes, cells_bytes);
  LLAMADA_CRASH_POINT("join:header-behind-written");
  set_cell_count(chunk.offset, 0);
  LLAMADA_CRASH_POINT("join:cells-dropped");
  set_payload_bytes(chunk.offset, chunk.size_bytes() - header_bytes);
}

/// So many bytes at the end of its payload become cells, which are zero.
void ArenaWriter::make_cells(const Chunk& chunk) {
  if (chunk.cell_count == 0) return;
  const std::uint64_t cells_bytes = std::uint64_t{chunk.cell_count} * cell_size_bytes;
  put_free_header(chunk.end() - cells_bytes, cells_bytes);
  LLAMADA_CRASH_POINT("split:header-behind-written");
  set_payload_bytes(chunk.offset, chunk.payload_bytes);
  LLAMADA_CRASH_POINT("split:payload-shortened");
  set_cell_count(chunk.offset, chunk.cell_count);
  LLAMADA_CRASH_POINT("split:cells-made");
  std::memset(base() + chunk.cells(), 0, cells_bytes);
}

void ArenaWriter::release(const Chunk& chunk) {
  const bool can_change =
      chunk.payload_bytes > 0 && prepare(memory_.subspan(chunk.offset, chunk.size_bytes()));
  if (!can_change) return free(chunk);
  drop_cells(chunk);
  Extent extent{chunk.offset, chunk.size_bytes()};
  if (const auto left = extents_.before(extent.offset)) {
    extents_.remove(*left);
    extent = {left->offset, left->size_bytes + extent.size_bytes};
    set_payload_bytes(extent.offset, extent.size_bytes - header_bytes);
    LLAMADA_CRASH_POINT("join:left-joined");
  }
  if (const auto right = extents_.at(extent.end())) {
    extents_.remove(*right);
    extent.size_bytes += right->size_bytes;
    set_payload_bytes(extent.offset, extent.size_bytes - header_bytes);
    LLAMADA_CRASH_POINT("join:right-joined");
  }
  extents_.add(extent);
  if (looked_at_ > extent.offset && looked_at_ < extent.end()) looked_at_ = extent.offset;
  add_live(-static_cast<std::int64_t>(chunk.size_bytes()));
}

std::optional<Chunk> ArenaWriter::allocate_joined(ChunkShape shape, std::uint64_t ordinal,
                                                  std::uint64_t records_before) {
  if (extents_.empty() || shape.payload_bytes == 0) return std::nullopt;
  Chunk chunk{.cell_count = shape.cell_count, .payload_bytes = shape.payload_bytes};
  const auto extent = extents_.find(chunk.size_bytes(), chunk_bytes_min);
  if (!extent) return std::nullopt;
  chunk.offset = extent->offset;
  const std::uint64_t rest_bytes = extent->size_bytes - chunk.size_bytes();
  if (!prepare(memory_.subspan(chunk.offset, chunk.size_bytes() + (rest_bytes > 0 ? header_bytes : 0))))
    return std::nullopt;
  extents_.remove(*extent);
  if (rest_bytes > 0) {
    put_free_header(chunk.end(), rest_bytes);
    LLAMADA_CRASH_POINT("split:rest-written");
    set_payload_bytes(chunk.offset, chunk.size_bytes() - header_bytes);
    LLAMADA_CRASH_POINT("split:rest-parted");
    extents_.add({chunk.end(), rest_bytes});
  }
  make_cells(chunk);
  begin_again(chunk, ordinal, records_before);
  return chunk;
}

}  // namespace llamada::log
