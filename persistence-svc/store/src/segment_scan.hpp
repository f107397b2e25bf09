#pragma once

#include <vector>

#include "llamada/store/files.hpp"
#include "segment_format.hpp"

namespace llamada::store {

/// A batch with a good header.
struct FoundBatch {
  enum class State {
    whole,
    torn,     ///< A part of it was never written: pieces are zeros that were none.
    damaged,  ///< Bytes have changed.
  };

  BatchNumber number = 0;
  std::uint64_t offset = 0;  ///< Of its header in the segment.
  std::uint64_t bytes = 0;   ///< With its header.
  BatchNumber synced = 0;
  State state = State::whole;
  bool heads_are_good = true;  ///< All its items' headers are what was written.
  bool after_damage = false;   ///< Something that is neither a batch nor zeros lies before it.
};

struct SegmentScan {
  std::vector<FoundBatch> batches;
  bool ends_damaged = false;  ///< Behind the last batch lies something that is neither a batch nor zeros.

  bool is_whole() const;
};

/// Finds all batches of a segment, and reads each whole.
Result<SegmentScan> scan_segment(const File& file, std::uint64_t size_bytes, std::uint64_t segment,
                                 std::uint32_t tag);

/// A batch of this number as it was written.
bool is_whole_batch(std::span<const std::byte> bytes, BatchNumber number);

/// Reads so many bytes; a file that ends before is an error.
Status read_all(const File& file, std::uint64_t offset, std::span<std::byte> into);

}  // namespace llamada::store
