#pragma once

// The log: what one writer has published, in order, in its arena, with any number of readers. It is the
// transport's buffer and the history at once: keeping a record means only not yet reusing its memory.
// Byte layout: docs/internals/arena.md.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "llamada/base/check.hpp"
#include "llamada/base/crash_point.hpp"
#include "llamada/base/result.hpp"
#include "llamada/log/arena_writer.hpp"
#include "llamada/log/log_reader.hpp"

namespace llamada::log {

/// LogWriter::try_publish() takes no more; above, the copy is what takes time.
inline constexpr std::size_t publish_fast_bytes_max = 2048;

/// What a log does with chunks that all its readers have consumed.
enum class Retention { recycle, keep_all };

struct LogOptions {
  Retention retention = Retention::recycle;
  /// Retention::recycle: reserve() gives would_block rather than hold more than this, except that
  /// `chunk_count_min` chunks are always allowed, at least 2 (so that a record of any size passes).
  std::uint64_t live_bytes_max = 512 << 10;
  std::uint32_t chunk_count_min = 2;
  /// Nothing is reused before so many readers have been added.
  std::uint32_t readers_expected = 1;
  /// The writer's entry in the endpoint directory.
  std::uint32_t endpoint = 0;
  /// Whether it is a WriterEndpoint's, which nobody carries on: its entry is used again after discard().
  bool is_endpoints = false;
  /// Of a new log that copies another one: what is published in it comes behind so many records of that one,
  /// which are not here. It takes its first chunk at once.
  std::uint64_t begins_behind = 0;
};

class LogWriter;

/// Room for one record in the writer's arena, not yet visible. Fill payload(), then LogWriter::commit().
/// Dropping it gives the room back. At most one is open for a log at a time. Move-only; the log must stay in
/// place meanwhile.
class Reservation {
 public:
  Reservation() = default;
  Reservation(Reservation&& other) noexcept { take(other); }
  Reservation& operator=(Reservation&& other) noexcept {
    if (this == &other) return *this;
    drop();
    take(other);
    return *this;
  }
  ~Reservation() { drop(); }

  /// Whether there is room in it (not moved from, committed or dropped).
  explicit operator bool() const { return log_ != nullptr; }
  /// Aligned to 64 bytes, or to 16 when at most 48 bytes.
  std::span<std::byte> payload() const { return payload_; }
  /// 32 bytes beside a payload of more than 48 bytes, zeroed at the first call; else empty. They lie in the
  /// cell, whose line a waiting reader has: whoever touches them before the payload is there waits for that
  /// line twice.
  std::span<std::byte> extra();
  /// Makes the payload smaller before the commit (it keeps its place). Not larger, and not once announced.
  void shrink(std::size_t payload_bytes);
  void drop() {
    if (log_ != nullptr) give_back();
  }

 private:
  friend class LogWriter;
  void give_back();
  /// The other's content, of which nothing is dropped; field by field, since who has just stored a field by
  /// itself cannot load it with another by one load without waiting.
  void take(Reservation& other) {
    log_ = std::exchange(other.log_, nullptr);
    payload_ = std::exchange(other.payload_, {});
    lies_apart_ = other.lies_apart_;
    repeats_ = other.repeats_;
    announced_ = other.announced_;
    has_extra_ = other.has_extra_;
  }

  LogWriter* log_ = nullptr;
  std::span<std::byte> payload_;
  bool lies_apart_ = false;
  bool repeats_ = false;  // what an earlier record has
  bool announced_ = false;
  bool has_extra_ = false;  // extra() has zeroed it
};

/// The writer's end of a log: a new one, or one that a dead predecessor left.
///
/// Threads: the application's, as for the ArenaWriter. Movable while no Reservation is open.
class LogWriter {
 public:
  /// A place to move another into.
  LogWriter() = default;
  LogWriter(LogWriter&& other) noexcept;
  LogWriter& operator=(LogWriter&& other) noexcept;

  /// A new entry in the directory; no chunk is taken before the first record, unless options say so. Errors:
  /// out_of_resources (directory full).
  static Result<LogWriter> create(ArenaWriter& arena, LogKey key, const LogOptions& options);

  /// Goes on behind the last committed record of a predecessor. Retention is as options say. Errors:
  /// invalid_argument when there is no such log, or it was not adopted with the arena or is in use already.
  static Result<LogWriter> adopt(ArenaWriter& arena, std::uint32_t index, const LogOptions& options);

  /// adopt() when the arena has a log with this key, else create().
  static Result<LogWriter> open(ArenaWriter& arena, LogKey key, const LogOptions& options);

  /// How the payload comes into a Reservation: by the caller, or by fill(), which is cheaper where the log
  /// keeps all and the payload is large.
  enum class Filling { in_place, by_fill };
  static constexpr std::size_t run_bytes_min = 4 << 20;
  /// Room for a record. Errors: would_block (Retention::recycle: the bound on live chunks is reached and a
  /// reader still holds the oldest: call again after it progressed), out_of_resources (the arena's memory is
  /// used up).
  Result<Reservation> reserve(std::size_t payload_bytes, Filling filling = Filling::in_place) {
    Result<Reservation> made;
    if (Status status = reserve(payload_bytes, *made, filling); !status) made = propagate(status);
    return made;
  }
  /// The same, into a Reservation that is not open. `run_bytes`: how long this payload and those that follow
  /// it at once are together, if by fill(). A run of run_bytes_min and more in payloads of stored_whole_bytes
  /// has chunks in which each of them is stored whole, and of which at most an eighth is left over.
  Status reserve(std::size_t payload_bytes, Reservation& into, Filling filling = Filling::in_place,
                 std::size_t run_bytes = 0);
  /// Copies `from` into the payload, which must be of its size; when it is announced, readers that ask for it
  /// hear how far it is (LogReader::announced_bytes()).
  void fill(const Reservation& reservation, std::span<const std::byte> from);
  /// Whether reserve_again() of this payload may follow: always where the log keeps all, else while it is in
  /// the chunk that is being written, or another one is in that place.
  bool can_repeat(std::span<const std::byte> kept) const {
    return retention_ == Retention::keep_all || (has_cell() && lies_in_last_chunk(kept));
  }
  /// Room for a record whose payload is that of an earlier record of this log: nothing is copied, and it
  /// takes a cell. payload() is the earlier one's, and must be left as it is. `kept` is more than 48 bytes
  /// long. Errors: out_of_resources.
  Status reserve_again(std::span<const std::byte> kept, Reservation& into);
  /// Whether that payload is `with`, of the same size. When it is announced, readers that ask for it hear how
  /// far that is seen.
  bool equals(const Reservation& reservation, std::span<const std::byte> with) {
    return equals(reservation, with, [](auto...) { return false; });
  }
  /// The same, but a part that differs goes to `let_pass(kept part, part of `with`, where it begins)`, which
  /// says whether to go on nevertheless.
  template <typename LetPass>
  bool equals(const Reservation& reservation, std::span<const std::byte> with, LetPass let_pass) {
    const auto payload = reservation.payload_;
    LLAMADA_CHECK(reservation.log_ == this && with.size() == payload.size());
    for (std::size_t seen = 0; seen < with.size();) {
      const auto part = with.subspan(seen, std::min(with.size() - seen, compared_bytes));
      const auto kept = payload.subspan(seen, part.size());
      if (std::memcmp(kept.data(), part.data(), part.size()) != 0 && !let_pass(kept, part, seen))
        return false;
      seen += part.size();
      if (reservation.announced_) say_equal(seen);
    }
    return true;
  }
  /// Whether reserve() would not give would_block now: cheap to ask again and again.
  bool may_reserve(std::size_t payload_bytes);
  /// Whether reserve() would have to enter another chunk, where the last one, empty of payload, would do.
  bool may_rewind(std::size_t payload_bytes) const;
  /// The payload of all records so far lies where nobody reads it any more, those of the last chunk's too:
  /// its payload room is used again, from its beginning.
  void rewind();
  /// What a writer that waits may do again and again: takes back from other cores' caches some more of the
  /// payload room that a record as long as the last one will need.
  void take_room_ahead() {
    for (int line = 0; line < room_lines_taken && room_taken_ < room_wanted_; ++line) {
      take_ahead(arena_->base() + room_taken_);
      room_taken_ += cell_size_bytes;
    }
  }
  /// Whether a Reservation is open.
  bool is_reserved() const { return reserved_; }
  /// Shows the cell of a record of more than 48 bytes, extra() too, to readers that ask for it
  /// (LogReader::peek_announced()) before its payload is there; for all others there is nothing. commit() is
  /// to follow with the same arguments; dropped, or if the writer dies, it is withdrawn: a cell that readers
  /// pass over.
  void announce(Reservation& reservation, std::uint8_t kind, std::uint16_t flags, std::uint64_t label);
  /// Makes the record visible. Waking the readers is the caller's.
  void commit(Reservation&& reservation, std::uint8_t kind, std::uint16_t flags, std::uint64_t label);
  /// reserve(), copy, commit().
  Status publish(std::uint8_t kind, std::uint16_t flags, std::uint64_t label,
                 std::span<const std::byte> payload);
  /// Of a copy of a log: a record of it whose payload, not empty, stays in record `number` of that log. Takes
  /// a cell.
  Status publish_absent(std::uint8_t kind, std::uint16_t flags, std::uint64_t label,
                        const AbsentPayload& absent);

  /// The fast path: for payloads of at most 48 bytes a few stores. False when a new chunk is needed, or the
  /// payload is longer than publish_fast_bytes_max, or its memory has not been made yet: then publish().
  bool try_publish(std::uint8_t kind, std::uint16_t flags, std::uint64_t label,
                   std::span<const std::byte> payload) {
    if (!can_publish_fast(payload.size())) return false;
    publish_fast(kind, flags, label, payload);
    return true;
  }
  /// Whether publish_fast() of so many bytes may follow.
  bool can_publish_fast(std::size_t payload_bytes) const {
    if (!has_cell()) return false;
    return payload_bytes <= inline_payload_max ||
           (payload_bytes <= publish_fast_bytes_max && payload_bytes <= payload_end_ - payload_next_ &&
            prepared_);
  }
  void publish_fast(std::uint8_t kind, std::uint16_t flags, std::uint64_t label,
                    std::span<const std::byte> payload) {
    if (payload.size() <= inline_payload_max) return publish_small(kind, flags, label, payload);
    publish_apart(kind, flags, label, payload);
  }
  /// Whether the next record of at most 48 bytes needs no new chunk: then publish_small() may follow.
  bool has_cell() const { return next_ != link_; }
  void publish_small(std::uint8_t kind, std::uint16_t flags, std::uint64_t label,
                     std::span<const std::byte> payload) {
    copy_small(next_->payload, payload.data(), payload.size());
    commit_cell(kind, flags, label, static_cast<std::uint8_t>(payload.size()), payload.size());
  }

  /// try_publish() of 8 bytes and a payload of at most 40 behind them.
  bool try_publish_small(std::uint8_t kind, std::uint16_t flags, std::uint64_t label, std::int64_t front,
                         std::span<const std::byte> payload) {
    if (!has_cell()) return false;
    std::memcpy(next_->payload, &front, sizeof(front));
    copy_small(next_->payload + sizeof(front), payload.data(), payload.size());
    const std::size_t size_bytes = sizeof(front) + payload.size();
    commit_cell(kind, flags, label, static_cast<std::uint8_t>(size_bytes), size_bytes);
    return true;
  }

  /// Readers whose cursors bound recycling. The entry must stay mapped until it is removed. Adding one twice
  /// does nothing. A reader that is dead for good is to be removed.
  void add_reader(const CursorEntry* cursor);
  void remove_reader(const CursorEntry* cursor);
  std::size_t reader_count() const { return readers_.size(); }

  /// From recycle to keep_all only what is still there is kept; from keep_all to recycle all that was
  /// consumed is given back (the job becomes unprotected).
  void set_retention(Retention retention);
  Retention retention() const { return retention_; }
  /// Gives back what all readers have consumed (Retention::recycle). Happens by itself when a new chunk is
  /// needed.
  void recycle();
  /// The first `record_count` records of a log that keeps all are of no use to anybody any more: chunks that
  /// have no others are given back once all readers have consumed them.
  void expire(std::uint64_t record_count);

  /// Gives back all of its memory, and its entry: no reader may be left.
  void discard();

  std::uint32_t index() const { return index_; }
  /// Records committed since the log began; after adoption, too.
  std::uint64_t published() const { return published_; }
  std::uint64_t live_bytes() const { return live_bytes_; }
  /// Where the next record will be: for a reader that is to begin behind all there is. Takes the first chunk
  /// if there is none yet. Errors: as reserve().
  Result<LogPosition> position();

 private:
  /// Compared at a time, before readers hear of it.
  static constexpr std::size_t compared_bytes = 32 << 10;
  friend class Reservation;

  /// Cells and payload room to come were read, when they were used last, by another core: they are taken back
  /// ahead of use, so many of them at a time.
  static constexpr int cells_taken_ahead = 8;
  static constexpr std::uint64_t payload_taken_ahead_bytes = 512;
  /// What is new, and was not made shortly before, comes from memory: that takes longer.
  static constexpr std::uint64_t payload_taken_ahead_of_new_bytes = 2048;
  static constexpr int room_lines_taken = 8;
  static constexpr std::uint64_t room_wanted_bytes_max = 64 << 10;
  static constexpr std::uint64_t room_wanted_of_others_bytes = 16 << 10;
  static void take_ahead(const void* line) {
#if defined(__x86_64__)
    // What __builtin_prefetch makes of a write without -mprfchw is a read.
    __asm__ volatile("prefetchw %0" ::"m"(*static_cast<const char*>(line)));
#else
    __builtin_prefetch(line, 1);
#endif
  }

  void publish_apart(std::uint8_t kind, std::uint16_t flags, std::uint64_t label,
                     std::span<const std::byte> payload);
  void write_place(std::span<const std::byte> payload);
  void describe(Reservation& reservation, std::uint8_t kind, std::uint16_t flags, std::uint64_t label);
  void place_apart(std::uint64_t payload_bytes);
  void pass_payload(std::uint64_t payload_bytes);
  std::uint64_t room_wanted_for(std::uint64_t payload_bytes) const;
  void take_payload_ahead(std::uint64_t payload_bytes) const;
  static Result<LogWriter> attach(ArenaWriter& arena, std::uint32_t index, const LogOptions& options);
  Status begin_behind(std::uint64_t record_count);
  bool fits(std::size_t payload_bytes) const;
  bool lies_in_last_chunk(std::span<const std::byte> payload) const;
  Status next_chunk(std::size_t payload_bytes, Filling filling, std::size_t run_bytes = 0);
  ChunkShape next_shape(std::uint64_t ordinal, std::uint64_t payload_bytes) const;
  bool has_room(std::uint64_t chunk_bytes);
  void link_to(const Chunk& chunk);
  void enter(const Chunk& chunk, std::uint32_t cell, Offset payload_next);
  std::uint64_t consumed_by_all() const;
  void give_back_first();

  void write_cell(std::uint8_t kind, std::uint16_t flags, std::uint64_t label, std::uint8_t inline_size) {
    Cell* const cell = next_;
    cell->kind = kind;
    cell->inline_size = inline_size;
    cell->flags = flags;
    cell->label = label;
  }
  void commit_cell(std::uint8_t kind, std::uint16_t flags, std::uint64_t label, std::uint8_t inline_size,
                   std::uint64_t payload_bytes) {
    LLAMADA_CRASH_POINT("publish:payload-written");
    write_cell(kind, flags, label, inline_size);
    commit_written(payload_bytes);
  }
  void commit_written(std::uint64_t payload_bytes) {
    LLAMADA_CRASH_POINT("publish:cell-written");
    // Pairs with the acquire loads in LogReader::peek() and ready().
    Cell* const cell = next_;
    cell->commit.store(generation_, std::memory_order_release);
    LLAMADA_CRASH_POINT("publish:committed");
    next_ = cell + 1;
    take_ahead(cell + 1 + cells_taken_ahead);
    LogEntry* const entry = entry_;
    entry->published.store(++published_, std::memory_order_relaxed);
    entry->published_bytes.store(published_bytes_ += payload_bytes, std::memory_order_relaxed);
  }
  void say_filled(std::uint64_t payload_bytes);
  void say_equal(std::uint64_t payload_bytes);
  void withdraw();

  ArenaWriter* arena_ = nullptr;
  LogEntry* entry_ = nullptr;
  Cell* next_ = nullptr;  // equal to link_: no cell left, or no chunk yet
  Cell* link_ = nullptr;  // the chunk's last cell, kept for the link
  std::uint32_t generation_ = 0;
  std::uint32_t index_ = 0;
  bool reserved_ = false;
  bool prepared_ = true;  // the payload room of the last chunk
  Retention retention_ = Retention::recycle;
  std::uint32_t readers_expected_ = 1;
  std::uint32_t chunk_count_min_ = 2;
  bool is_endpoints_ = false;
  Offset payload_next_ = 0;
  Offset payload_end_ = 0;
  Offset room_taken_ = 0;   // of the payload room: up to here it has been taken ahead,
  Offset room_wanted_ = 0;  // and is to be taken
  std::uint64_t published_ = 0;
  std::uint64_t published_bytes_ = 0;
  std::uint64_t live_bytes_ = 0;
  std::uint64_t live_bytes_max_ = 0;
  std::uint64_t repeats_end_ = 0;  // 1 + the ordinal of the last chunk with a record of payload_repeated
  std::deque<Chunk> chunks_;       // in order; the last is written
  std::vector<const CursorEntry*> readers_;
};

inline std::span<std::byte> Reservation::extra() {
  if (log_ == nullptr || !lies_apart_) return {};
  std::byte* const extra = log_->next_->payload + offsetof(ApartPayload, extra);
  if (!std::exchange(has_extra_, true)) std::memset(extra, 0, extra_bytes_max);
  return {extra, extra_bytes_max};
}

}  // namespace llamada::log
