#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "llamada/base/check.hpp"
#include "llamada/base/crash_point.hpp"
#include "llamada/base/result.hpp"
#include "llamada/log/arena_writer.hpp"

namespace llamada::log {

/// One entry of a journal, by the conventions of the layer above.
struct JournalEntry {
  std::uint32_t head = 0;  ///< neither 0 nor 0xffffffff
  std::uint32_t count = 0;
  std::uint64_t value = 0;
  bool operator==(const JournalEntry&) const = default;
};

/// An append-only sequence of 16-byte entries in the arena, for the process's successor to read: what the
/// facade keeps its determinants in. It keeps everything but what give_back() names. Byte layout:
/// docs/internals/arena.md, "Journals".
///
/// Reading begins at the first entry and is apart from appending: a successor reads what it adopted, then
/// appends. give_back() ends all reading.
///
/// Threads: the application's. Movable. The arena must outlive it.
class Journal {
 public:
  /// A place to move another into.
  Journal() = default;

  /// The journal with this key: the predecessor's, or a new one. Errors: out_of_resources; invalid_argument
  /// when the key belongs to a log that is no journal, or the journal is in use already.
  static Result<Journal> open(ArenaWriter& arena, LogKey key);

  /// Adds an entry: once this returns, a successor will read it. Errors: out_of_resources (nothing was
  /// added); invalid_argument for a head of 0 or 0xffffffff.
  Status append(const JournalEntry& entry);
  /// The same where that takes no new chunk: false when append() has to look closer, and nothing was added.
  bool try_append(const JournalEntry& entry) {
    if (next_ == link_ || entry.head == 0 || entry.head == journal_link) return false;
    add(entry);
    return true;
  }

  /// Changes the last entry by one store: a successor reads the old or the new one. Only when size() > 0.
  void set_last_count(std::uint32_t count) {
    LLAMADA_CHECK(last_ != nullptr);
    last_->count.store(count, std::memory_order_relaxed);
    LLAMADA_CRASH_POINT("journal:count-stored");
  }
  void set_last_value(std::uint64_t value);
  std::optional<JournalEntry> last() const {
    if (last_ == nullptr) return std::nullopt;
    return entry_in(*last_);
  }

  /// Entries there are, without those that were given back.
  std::uint64_t size() const { return size_; }
  /// How many of them were there when it was opened.
  std::uint64_t adopted_size() const { return adopted_size_; }

  /// The entry that reading stands at; nothing behind the last one.
  std::optional<JournalEntry> peek() const;
  void advance();
  std::optional<JournalEntry> read_next();
  /// How many entries have been read.
  std::uint64_t read_count() const { return read_count_; }

  /// The ordinal of the chunk in which the last entry lies; 0 without one. Chunks are numbered from 0.
  std::uint64_t last_chunk() const;
  /// The ordinal of the chunk in which the entry lies that was read last; 0 without one.
  std::uint64_t read_chunk() const { return chunks_.empty() ? 0 : chunks_[read_chunk_].ordinal; }
  /// Gives back the memory of all entries in the chunks between these two, which stay, and of which `last` is
  /// not behind last_chunk(). Entries beside them in both chunks stay, too: a successor reads some that it
  /// does not need, with a gap among them. JournalReaders must have read all entries up to one in `last`.
  void give_back(std::uint64_t first, std::uint64_t last);

 private:
  void add(const JournalEntry& entry) {
    JournalCell* const cell = next_;
    cell->count.store(entry.count, std::memory_order_relaxed);
    cell->value.store(entry.value, std::memory_order_relaxed);
    LLAMADA_CRASH_POINT("journal:entry-written");
    cell->head.store(entry.head, std::memory_order_release);  // pairs with the successor's TailWalk
    LLAMADA_CRASH_POINT("journal:entry-committed");
    last_ = cell;
    next_ = cell + 1;
    entry_->published.store(++size_, std::memory_order_relaxed);
  }
  static JournalEntry entry_in(const JournalCell& cell) {
    return {cell.head.load(std::memory_order_acquire), cell.count.load(std::memory_order_relaxed),
            cell.value.load(std::memory_order_relaxed)};
  }
  JournalCell* cells(const Chunk& chunk) const;
  static std::uint32_t capacity(const Chunk& chunk);
  Status next_chunk();

  ArenaWriter* arena_ = nullptr;
  std::uint32_t index_ = 0;
  LogEntry* entry_ = nullptr;
  std::vector<Chunk> chunks_;
  JournalCell* next_ = nullptr;
  JournalCell* link_ = nullptr;  // the last place of the chunk, kept for the link
  JournalCell* last_ = nullptr;
  std::uint64_t size_ = 0;
  std::uint64_t adopted_size_ = 0;
  std::uint64_t read_count_ = 0;
  std::size_t read_chunk_ = 0;  // its index in chunks_
  std::uint32_t read_place_ = 0;
};

}  // namespace llamada::log
