#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "llamada/base/clock.hpp"
#include "llamada/store/store.hpp"

namespace llamada::store {

class Files;

/// What a directory has that holds a store of SQLite (llamada/store_sqlite), which no store of segments is.
inline constexpr const char* sqlite_file = "store.sqlite";

struct SegmentOptions {
  /// What the store allocates at a time. Space comes back in pieces of this size. A batch that is larger gets
  /// a segment of its own size.
  std::uint64_t segment_bytes = std::uint64_t{64} << 20;
  /// A batch is full when it is as long; a longer item fills a batch of its own.
  std::uint64_t batch_bytes_max = std::uint64_t{8} << 20;
  /// Opens what is there to be read, also while another process writes the store; changes nothing.
  bool read_only = false;
  /// Is told, in one sentence each, what the store found damaged, and which faults of the disk it has got
  /// over. May be called in the thread of sync().
  std::function<void(std::string_view)> say;
  /// For the time between two looks for room on a full disk; the system's clock if null.
  const Clock* clock = nullptr;
};

/// The store in files of this directory, which is made (with mode 0700, and those above it with the usual
/// one) if it is not there: append-only segments with checksums, docs/internals/store.md. One process at a
/// time may write it. Errors: already_exists (another process writes it; the text has its number), not_found
/// (to be read only, and not there), parse_error (not a store, of another version, or one of SQLite), system.
Result<std::unique_ptr<Store>> open_segment_store(const std::string& directory, SegmentOptions options = {});
/// The same in other files, which tests let fail.
Result<std::unique_ptr<Store>> open_segment_store(std::unique_ptr<Files> files, SegmentOptions options = {});

/// The process that has the store of this directory open to be written, if one has. Takes no lock.
std::optional<int> writer_of(const std::string& directory);

/// Removes the files of a store of either kind, and its directory if nothing else is in it. A store that a
/// process writes is left alone: already_exists.
Status remove_store(const std::string& directory);

}  // namespace llamada::store
