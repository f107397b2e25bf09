#pragma once

#include <cstdint>

#include "llamada/base/rounding.hpp"
#include "llamada/log/arena_writer.hpp"
#include "llamada/log/log_writer.hpp"

// How large a log's next chunk is, and how it is shared out between cells and payload.
namespace llamada::log {

constexpr std::uint64_t aligned_payload(std::uint64_t payload_bytes) { return rounded_up(payload_bytes, 64); }

/// What a record takes of a chunk's payload.
constexpr std::uint64_t needed_bytes(std::uint64_t payload_bytes) {
  return payload_bytes <= inline_payload_max ? 0 : aligned_payload(payload_bytes);
}

constexpr std::uint64_t bytes_of(const ChunkShape& shape) {
  return sizeof(ChunkHeader) + shape.cell_count * cell_size_bytes + shape.payload_bytes;
}

ChunkShape chunk_shape_for(std::uint64_t ordinal, std::uint64_t payload_bytes, Retention retention);

/// A chunk of the same size, shared out between cells and payload as the records of the last one needed it.
/// Only where all is kept: what is recycled must be of few shapes. Chunks that may be given back before their
/// log ends are of few shapes, too: their count of cells is a multiple of `cell_grain`.
ChunkShape shared_out(ChunkShape shape, std::uint64_t used_cells, std::uint64_t used_payload_bytes,
                      std::uint64_t needed_bytes, std::uint32_t cell_grain);

}  // namespace llamada::log
