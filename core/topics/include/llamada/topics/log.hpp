#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "llamada/base/result.hpp"
#include "llamada/topics/arena_layout.hpp"
#include "llamada/topics/memory.hpp"

// The log: what one DataWriter has published, in order, in its arena, with any number of readers. It is the
// transport's buffer and the history at once: keeping a sample means only not yet reusing its memory.
// Byte layout: docs/internals/arena.md.

namespace llamada::topics {

struct LogKey {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  bool operator==(const LogKey&) const = default;
};

/// One committed record, in place in the writer's arena. Valid until the reader releases its chunk.
struct Record {
  std::uint8_t kind = 0;
  std::uint16_t flags = 0;
  std::uint64_t label = 0;
  std::span<const std::byte> payload;
  std::uint64_t chunk_ordinal = 0;  ///< for LogReader::release()
};

/// Room for one record, reserved in the writer's arena and not yet visible. Fill payload(), then LogWriter::commit().
/// Dropping it gives the room back. At most one is open for a log at a time. Move-only.
class Reservation;

/// What a log does with chunks that all its readers have consumed.
enum class Retention { recycle, keep_all };

/// The writer's end. Single-threaded; all of it works in the arena of this process.
///
///   static Result<LogWriter> create(ArenaWriter&, LogKey, Retention, endpoint index)   a new entry in the directory
///   static Result<LogWriter> adopt(ArenaWriter&, log index)                            after a predecessor's death
///
///   Result<Reservation> reserve(std::size_t payload_bytes)
///       Errors: would_block  - Retention::recycle, the log's bound on live chunks is reached and the oldest chunk is
///                              still held by a reader (call again after progress);
///               out_of_resources - the arena's memory is used up (log_bytes_per_node).
///   void commit(Reservation&&, kind, flags, label)
///   bool try_publish(kind, flags, label, span)      // the fast path for payloads of at most 48 bytes, header-inline:
///                                                   // false when a new chunk is needed: then use reserve()
///   void add_reader(ReaderCursor) / remove_reader   // whose cursors bound recycling
///   std::uint64_t published() const
///
/// The reader's end. Single-threaded.
///
///   static LogReader open(PeerArena, log index)
///   std::optional<Record> peek()     // the next record if it is committed; does not move; header-inline, one load
///                                    // when there is nothing
///   void advance()                   // move over what peek() gave
///   std::uint64_t position_chunk() const
///   void release(std::uint64_t chunk_ordinal)   // stores this reader's cursor: chunks below it are not needed any more
///
/// Finding: `std::optional<std::uint32_t> find_log(PeerArena, LogKey, std::uint32_t& scanned)` looks at directory
/// entries that were not looked at before.

}  // namespace llamada::topics
