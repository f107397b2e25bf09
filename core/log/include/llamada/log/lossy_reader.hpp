#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "llamada/log/log_reader.hpp"
#include "llamada/log/peer_arena.hpp"

namespace llamada::log {

/// A record that a LossyReader has copied.
struct CopiedRecord {
  std::uint8_t kind = 0;
  std::uint16_t flags = 0;
  std::uint64_t label = 0;
  std::uint64_t number = 0;      ///< its place in the log, from 1
  std::uint64_t size_bytes = 0;  ///< of the payload
  /// The payload's first bytes, at most as many as the reader was told to copy; none if they are gone.
  std::vector<std::byte> bytes;
  /// False: the payload is not in this log, or its memory had another use already.
  bool has_bytes = true;
};

/// Reads a log for which its writer does not wait: it holds no cursor, and the writer never learns of it. It
/// copies each record, and then looks at the chunk's generation, which changes before anything else in a
/// chunk that is used again. Overtaken by the writer, it goes on with the oldest record that is there and
/// counts what it has missed. A log that keeps all is read from its first record without a loss.
///
/// Nothing in the arena can harm it: see PeerArena.
///
/// Threads: one at a time. Movable. The arena's mapping must outlive it.
class LossyReader {
 public:
  /// Of the log that has the entry at `index` now, from the oldest record on that is there. The index must be
  /// below arena.log_count(). Copies at most `bytes_max` of a payload.
  LossyReader(const PeerArena& arena, std::uint32_t index, std::size_t bytes_max);

  /// Of the log. Once the entry has another key, next() gives what is left of this log's chunk, and then
  /// nothing.
  LogKey key() const { return key_; }

  /// The next record, valid until the next call; null if there is none now.
  const CopiedRecord* next();
  /// The owner has given entries another use (ArenaHeader::reuses): if this one is a new log's, begins with
  /// that log's first record.
  void look_at_entry_again();
  /// How often it has met a new log with the same key in the entry: numbers begin with 1 again.
  std::uint64_t restarts() const { return restarts_; }
  /// How many records were gone before it could copy them, since the start.
  std::uint64_t missed() const { return missed_; }
  /// Whether all records of the log up to the last one were given, so that they can be counted.
  bool is_whole() const { return is_whole_; }

 private:
  enum class Step { copied, passed, nothing, overtaken };

  Step step();
  bool enter_first();
  bool is_another_log(const Chunk& first) const;
  void begin_anew();
  bool enter(const Chunk& chunk);
  bool follow_link(const Cell& cell);
  Step copy_record(const Cell& cell);
  void copy_payload(const Cell& cell);
  bool is_still(const Chunk& chunk) const;
  bool is_kept_since_start() const;

  PeerArena arena_;
  std::uint32_t index_;
  std::size_t bytes_max_;
  LogKey key_;
  std::optional<Chunk> chunk_;
  std::optional<Chunk> start_;  // the log's very first chunk, if it was seen
  std::uint32_t cell_ = 0;
  std::uint64_t withdrawn_ = 0;  // cells of this chunk before this one
  std::uint64_t last_ = 0;       // number of the last record that was given or passed over
  std::uint64_t ordinal_ = 0;    // of the chunk that it was in last
  std::uint64_t missed_ = 0;
  std::uint64_t restarts_ = 0;
  bool has_begun_ = false;
  bool is_whole_ = true;
  CopiedRecord record_;
};

}  // namespace llamada::log
