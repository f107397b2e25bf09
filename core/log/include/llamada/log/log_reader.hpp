#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "llamada/base/crash_point.hpp"
#include "llamada/base/result.hpp"
#include "llamada/base/rounding.hpp"
#include "llamada/log/arena_layout.hpp"
#include "llamada/log/peer_arena.hpp"

namespace llamada::log {

/// Copies at most 48 bytes, what a cell has room for, with a few stores of fixed size.
inline void copy_small(std::byte* to, const std::byte* from, std::size_t size_bytes) {
  // Two blocks that overlap in the middle cover any size between one and two of them.
  const auto both_ends = [&](auto block) {
    std::memcpy(to, from, sizeof(block));
    std::memcpy(to + size_bytes - sizeof(block), from + size_bytes - sizeof(block), sizeof(block));
  };
  struct Sixteen {
    std::byte bytes[16];
  };
  if (size_bytes > 32) std::memcpy(to + 16, from + 16, 16);
  if (size_bytes >= 16) return both_ends(Sixteen{});
  if (size_bytes >= 8) return both_ends(std::uint64_t{});
  if (size_bytes >= 4) return both_ends(std::uint32_t{});
  for (std::size_t i = 0; i < size_bytes; ++i) to[i] = from[i];
}

/// One committed record, in place in the writer's arena. Valid until the reader releases its chunk; in a log
/// that keeps all, while the mapping is there.
struct Record {
  std::uint8_t kind = 0;
  std::uint16_t flags = 0;
  std::uint64_t label = 0;
  std::span<const std::byte> payload;
  std::uint64_t chunk_ordinal = 0;  ///< for LogReader::release()
  std::span<const std::byte>
      extra;  ///< 32 bytes when the payload lies apart (more than 48 bytes), else empty
  /// Not 0: the payload has so many bytes and lies in another log, of which this one is a copy, in the record
  /// of this number.
  std::uint64_t absent_bytes = 0;
  std::uint64_t absent_record = 0;
};

/// A place in a log where a reader can begin.
struct LogPosition {
  Offset chunk = 0;
  std::uint32_t generation = 0;
  std::uint32_t cell = 0;
  std::uint64_t ordinal = 0;
  bool operator==(const LogPosition&) const = default;
};

/// The reader's end of a log. What the writer's arena says is checked: a record that cannot be stops the
/// reader for good (failed(), error()) and never harms it.
///
/// Threads: one at a time. Movable. The arena's mapping and the cursor must outlive it.
class LogReader {
 public:
  /// Nothing to read; a place to move another into.
  LogReader() = default;

  /// From the log's start. `index` must be below arena.log_count(). `cursor` (ArenaWriter::cursor() of the
  /// reader's own arena) is what release() stores to; without one (a look at one's own log, a tool) nothing
  /// is held. Where a predecessor has released chunks of a log that recycles, its start may be written again
  /// meanwhile: there a reader begins with open_at().
  static LogReader open(const PeerArena& arena, std::uint32_t index, CursorEntry* cursor = nullptr);

  /// From a place that the writer gave (LogWriter::position()).
  static LogReader open_at(const PeerArena& arena, std::uint32_t index, const LogPosition& position,
                           CursorEntry* cursor);

  /// The next record if it is committed; does not move. One load when there is nothing.
  std::optional<Record> peek() {
    if (cell_ == nullptr) [[unlikely]]
      return peek_slowly();
    // Pairs with the release store in LogWriter::commit_cell().
    if (cell_->commit.load(std::memory_order_acquire) != generation_) return std::nullopt;
    // Read once: a writer gone wild may change it between the check and the use.
    const std::uint8_t inline_size = __atomic_load_n(&cell_->inline_size, __ATOMIC_RELAXED);
    if (cell_->kind == kind_link || inline_size > inline_payload_max) [[unlikely]]
      return peek_slowly();
    LLAMADA_CRASH_POINT("consume:peeked");
    return Record{cell_->kind, cell_->flags, cell_->label, {cell_->payload, inline_size}, chunk_.ordinal, {}};
  }

  /// The next cell if it is committed, else null. Whether it is a record, and lies in the cell as a whole,
  /// the caller has to see, reading each word once; then advance() may follow, else peek() looks closer.
  const Cell* peek_cell() const {
    // Pairs with the release store in LogWriter::commit_cell().
    if (cell_ == nullptr || cell_->commit.load(std::memory_order_acquire) != generation_) return nullptr;
    LLAMADA_CRASH_POINT("consume:peeked");
    return cell_;
  }

  /// Whether the next record is not there, but announced (LogWriter::announce()).
  bool is_announced() const {
    // Pairs with the release store in LogWriter::announce().
    return cell_ != nullptr && cell_->commit.load(std::memory_order_acquire) == announced(generation_);
  }
  /// That record, whose payload's bytes are not there yet and must not be touched. It will be committed as it
  /// is, or withdrawn: then peek() passes over it, and what comes instead has another position().
  std::optional<Record> peek_announced() const;
  /// How many bytes of the payload of `record`, which peek_announced() gave, are there all the same, from the
  /// first on (LogWriter::fill()).
  std::uint64_t announced_bytes(const Record& record) const {
    const auto& header = *reinterpret_cast<const ChunkHeader*>(arena_.base + chunk_.offset);
    // Pairs with LogWriter::fill(). May be a later record's when this one has been committed meanwhile.
    const std::uint64_t filled = header.filled.load(std::memory_order_acquire);
    const std::uint64_t bytes = filled < record.payload.size() ? filled : record.payload.size();
    return arena_.covers(static_cast<Offset>(record.payload.data() - arena_.base), bytes) ? bytes : 0;
  }

  /// Whether it stands in no chunk yet (or no more, after a failure), and only peek() can tell.
  bool at_start() const { return cell_ == nullptr; }

  /// While nothing is there: fetches what the payload of the next record will be, if it is one that lies
  /// apart and follows the last, so that it comes from the writer's core together with its cell. At most so
  /// many lines, of at most 16 that are known: few for who asks again and again, and takes them from a writer
  /// at work.
  void expect(unsigned lines_max = 4) const {
    for (unsigned line = 0; line < expected_lines_ && line < lines_max; ++line)
      __builtin_prefetch(expected_ + line * cell_size_bytes);
  }

  /// Whether the record `count` behind the next one is committed, and lies in the same chunk.
  bool has_come(std::ptrdiff_t count) const {
    return cells_end_ - cell_ > count && cell_[count].commit.load(std::memory_order_acquire) == generation_;
  }

  /// Whether the record `count` behind the next one would lie in the same chunk, and is not committed.
  bool is_to_come(std::ptrdiff_t count) const {
    return cells_end_ - cell_ > count + 1 &&
           cell_[count].commit.load(std::memory_order_acquire) != generation_;
  }

  /// Whether peek() would give something or has to look closer: one load, for scans over many streams.
  bool ready() const {
    if (cell_ == nullptr)
      return entry_ != nullptr && entry_->first_chunk.load(std::memory_order_acquire) != 0;
    return cell_->commit.load(std::memory_order_acquire) == generation_;
  }

  /// Moves over the record that peek() gave; only after one.
  void advance() {
    if (++cell_ == cells_end_) [[unlikely]]
      return fail_at_end();
    LLAMADA_CRASH_POINT("consume:advanced");
  }

  /// The ordinal of the chunk where the reader stands: every record given so far, but those of this chunk,
  /// lies below.
  std::uint64_t position_chunk() const { return chunk_.ordinal; }
  /// That chunk as a whole; nothing before the first record.
  std::span<const std::byte> chunk_bytes() const {
    if (cell_ == nullptr) return {};
    return {arena_.base + chunk_.offset, chunk_.size_bytes()};
  }
  LogPosition position() const;
  /// How many records of the log come before the one that peek() or peek_announced() gave, those of its chunk
  /// that were withdrawn included; 0 before the first of these calls.
  std::uint64_t records_before() const {
    return chunk_.records_before + chunk_.cell_count - static_cast<std::uint64_t>(cells_end_ - cell_);
  }

  /// Stores this reader's cursor: the writer may reuse chunks with an ordinal below `chunk_ordinal`. What
  /// went before never goes back: a smaller value than the last does nothing.
  void release(std::uint64_t chunk_ordinal) {
    if (chunk_ordinal <= released_) return;
    store_cursor(chunk_ordinal);
  }

  /// In a copy of the process that takes over from it: the original may have stored the cursor since.
  void take_over_cursor() {
    if (cursor_ != nullptr) released_ = cursor_->consumed.load(std::memory_order_relaxed);  // own word
  }

  /// A record that cannot be was found; peek() gives nothing any more.
  bool failed() const { return failed_; }
  /// Why (closed); only when failed().
  Error error() const;
  /// For a reader that has waited long: why it waits in vain, as far as the log shows that by words that
  /// cannot be; null if it does not. To be asked again some 100 ms later: a word may be on its way from
  /// another core, so a reason is given only when it was there at the last look, too. Not for a reader that
  /// began with open_at().
  const char* find_damage();

  /// Whether this reader's cursor is not as release() has left it: its own process has written over it.
  bool is_cursor_damaged() const {
    return cursor_ != nullptr && cursor_->consumed.load(std::memory_order_relaxed) != released_;
  }

  /// What an ApartPayload begins with.
  struct Place {
    std::uint64_t offset = 0;
    std::uint64_t size_bytes = 0;
  };
  /// Several records in a row, from the next one on, that lie in one chunk and are at most `size_bytes_max`
  /// long: cheaper to take than one by one. The reader stays where it is until finish(), and must be left
  /// alone.
  class Run {
   public:
    struct Message {
      std::uint32_t kind_and_flags;  ///< flags << 16 | kind
      std::uint64_t label;
      const std::byte* payload;
      std::size_t size_bytes;
    };
    static constexpr std::size_t size_bytes_max = 2048;

    /// Of a reader that is not at_start().
    explicit Run(LogReader& reader)
        : reader_(reader),
          cell_(reader.cell_),
          // The last cell has no message; if it seems to, peek() of the reader says what is wrong.
          end_(reader.cells_end_ - 1),
          generation_(reader.generation_) {}

    /// The next one if it is committed. What is longer, or in another chunk, or cannot be, is none.
    std::optional<Message> peek() {
      // Pairs with the release store in LogWriter::commit_cell().
      if (cell_ == end_ || cell_->commit.load(std::memory_order_acquire) != generation_) return std::nullopt;
      // Each word is read once.
      std::uint32_t word = 0;
      std::memcpy(&word, reinterpret_cast<const std::byte*>(cell_) + offsetof(Cell, kind), sizeof(word));
      const std::uint32_t kind_and_flags = word & 0xffff00ffU;
      const std::size_t inline_size = word >> 8 & 0xff;
      LLAMADA_CRASH_POINT("consume:peeked");
      if (inline_size <= inline_payload_max)
        return Message{kind_and_flags, cell_->label, cell_->payload, inline_size};
      const Place place = place_of(*cell_);
      if (inline_size != payload_apart || (word & 0xff) == kind_withdrawn ||
          place.size_bytes > size_bytes_max || !reader_.chunk_.has_payload(place.offset, place.size_bytes) ||
          !reader_.arena_.covers(place.offset, place.size_bytes))
        return std::nullopt;
      place_ = place;
      return Message{kind_and_flags, cell_->label, reader_.arena_.base + place.offset, place.size_bytes};
    }
    /// Over what peek() gave.
    void advance() {
      ++cell_;
      LLAMADA_CRASH_POINT("consume:advanced");
    }
    /// Moves the reader over what was taken.
    void finish() {
      reader_.cell_ = cell_;
      if (place_.size_bytes > 0) reader_.expect_behind(place_);
    }

   private:
    LogReader& reader_;
    const Cell* cell_;
    const Cell* end_;
    std::uint32_t generation_;
    Place place_;  // of the last one that lay apart
  };

 private:
  // The writer of what is longer is still at work on its end when its beginning is fetched.
  static constexpr unsigned expected_whole_max = 16, expected_of_more = 8;

  std::optional<Record> peek_slowly();
  bool enter_first();
  bool follow_link(const Cell& cell);
  bool enter(const Chunk& chunk, std::uint32_t cell);
  std::optional<Record> read_apart(const Cell& cell);
  static Place place_of(const Cell& cell) {
    Place place;
    std::memcpy(&place, cell.payload, sizeof(place));
    return place;
  }
  Record record_apart(const Cell& cell, std::uint8_t kind, const Place& place) const;
  std::optional<Record> record_absent(const Cell& cell);
  void expect_behind(const Place& place) {
    const std::uint64_t lines = divided_up(place.size_bytes, cell_size_bytes);
    expected_ = arena_.base + place.offset + lines * cell_size_bytes;
    expected_lines_ = lines <= expected_whole_max ? static_cast<unsigned>(lines) : expected_of_more;
  }
  const char* suspicion() const;
  void store_cursor(std::uint64_t chunk_ordinal);
  void fail_at_end();
  void fail(const char* reason);

  // What each look takes, in 64 bytes.
  const Cell* cell_ = nullptr;  // null until the first chunk is there, and after a failure
  const Cell* cells_end_ = nullptr;
  std::uint32_t generation_ = 0;
  unsigned expected_lines_ = 0;
  const std::byte* expected_ = nullptr;  // behind the last payload that lay apart
  PeerArena arena_;
  const LogEntry* entry_ = nullptr;

  Chunk chunk_;
  CursorEntry* cursor_ = nullptr;
  std::uint64_t released_ = 0;
  std::uint32_t index_ = 0;
  bool failed_ = false;
  const char* reason_ = nullptr;
  std::uint64_t passed_withdrawn_ = 0;  // cells of this chunk
  const char* suspicion_ = nullptr;     // of find_damage(), at its last look,
  const Cell* suspected_at_ = nullptr;  // when the reader stood there
};

}  // namespace llamada::log
