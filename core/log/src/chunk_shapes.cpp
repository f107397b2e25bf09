#include "chunk_shapes.hpp"

#include <algorithm>
#include <bit>

#include "llamada/base/page.hpp"

namespace llamada::log {
namespace {

/// Chunks for small records: 4, 16, 64, then 256 KiB, a quarter of it cells.
ChunkShape normal_shape(std::uint64_t ordinal) {
  const std::uint64_t size_bytes = std::uint64_t{page_bytes} << (2 * std::min<std::uint64_t>(ordinal, 3));
  const auto cell_count = static_cast<std::uint32_t>(size_bytes / 256);
  return {cell_count, size_bytes - sizeof(ChunkHeader) - cell_count * cell_size_bytes};
}

/// Chunks for large records: 8 KiB of header and cells, and 16, 64, then 128 KiB of payload, two or three of
/// which stay in the cache; where all is kept then 256 KiB, or as many pages as a record needs. Where chunks
/// are used again, those for records of 64 KiB and more have 32 KiB of cells, since such a payload is written
/// once for all the records in its chunk that repeat it, and at least 128 KiB, or a power of two, which will
/// be found again.
ChunkShape bulk_shape(std::uint64_t ordinal, std::uint64_t needed_bytes, Retention retention) {
  constexpr std::uint32_t cell_count = 8192 / cell_size_bytes - 1,
                          cell_count_of_large = 32768 / cell_size_bytes - 1;
  constexpr std::uint64_t large_bytes = 64 << 10, recycled_bytes = 128 << 10, kept_bytes = 256 << 10;
  const bool recycles = retention == Retention::recycle;
  if (recycles && needed_bytes >= large_bytes)
    return {cell_count_of_large, std::max(recycled_bytes, std::bit_ceil(needed_bytes))};
  const std::uint64_t usual = std::min(std::uint64_t{16384} << (2 * std::min<std::uint64_t>(ordinal, 3)),
                                       recycles ? recycled_bytes : kept_bytes);
  if (recycles) return {cell_count, std::max(usual, std::bit_ceil(needed_bytes))};
  return {cell_count, needed_bytes <= usual ? usual : rounded_up(needed_bytes, page_bytes)};
}

}  // namespace

ChunkShape chunk_shape_for(std::uint64_t ordinal, std::uint64_t payload_bytes, Retention retention) {
  constexpr std::uint64_t large_bytes = 2048;
  const std::uint64_t needed = needed_bytes(payload_bytes);
  const ChunkShape normal = normal_shape(ordinal);
  const bool fits = ordinal == 0 ? needed <= normal.payload_bytes : needed < large_bytes;
  return fits ? normal : bulk_shape(ordinal, needed, retention);
}

ChunkShape shared_out(ChunkShape shape, std::uint64_t used_cells, std::uint64_t used_payload_bytes,
                      std::uint64_t needed_bytes, std::uint32_t cell_grain) {
  const std::uint64_t size_bytes = bytes_of(shape) - sizeof(ChunkHeader);
  const std::uint64_t for_each = used_payload_bytes / used_cells;
  std::uint64_t cell_count = size_bytes / (cell_size_bytes + for_each);
  // Some more cells, for the payload is what ends a chunk with records of one size.
  cell_count = rounded_up(cell_count + cell_count / 16, cell_grain);
  cell_count = std::clamp<std::uint64_t>(cell_count, 16, size_bytes / cell_size_bytes);
  const ChunkShape made{static_cast<std::uint32_t>(cell_count), size_bytes - cell_count * cell_size_bytes};
  return made.payload_bytes >= needed_bytes ? made : shape;
}

}  // namespace llamada::log
