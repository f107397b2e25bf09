#pragma once

#include <string>
#include <vector>

#include "segment_index.hpp"
#include "segment_scan.hpp"

namespace llamada::store {

/// A batch of which nothing says that it is durable.
struct UnsyncedBatch {
  BatchNumber number = 0;
  std::uint64_t segment = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::vector<std::byte> memory;  ///< The batch, or nothing: then it must be read back.
};

struct LoadedStore {
  SegmentIndex index;
  BatchNumber written = 0;
  BatchNumber synced = 0;
  std::vector<UnsyncedBatch> unsynced;
  std::uint64_t next_segment = 1;
  std::uint64_t torn_batches = 0;
  std::uint64_t damaged_batches = 0;
  std::uint64_t damaged_items = 0;
  std::vector<std::string> sentences;   ///< What was found damaged.
  std::vector<std::string> leftover;    ///< Files that no longer belong to the store.
  std::vector<std::uint64_t> unsealed;  ///< Segments that may be longer than what is in them.
};

/// Reads all segments and says what the store has. Changes nothing. `synced`: what is known to be durable.
Result<LoadedStore> load_segments(Files& files, const StoreId& store, BatchNumber synced, bool read_only);

}  // namespace llamada::store
