#pragma once

#include <cstdint>
#include <optional>

#include "llamada/log/journal.hpp"
#include "llamada/log/peer_arena.hpp"

namespace llamada::log {

/// Reads the journal of another process, which may append meanwhile, or be dead. It believes nothing
/// (PeerArena): a journal that cannot be one reads as damaged, and stays so. The owner may give back only
/// chunks that this reader has left.
///
/// Threads: one. The mapping must outlive it.
class JournalReader {
 public:
  JournalReader(PeerArena arena, LogKey key) : arena_(arena), key_(key) {}

  /// Whether there is an entry behind the last one that was read. Acquire: that one is final then, for only
  /// the last entry of a journal is changed in place.
  bool is_next();
  std::optional<JournalEntry> read_next();
  /// The entry that was read last, as it is now; nothing before the first.
  std::optional<JournalEntry> last() const;
  std::uint64_t read_count() const { return read_count_; }
  bool is_damaged() const { return is_damaged_; }
  /// The most entries that there can be in the arena at a time.
  std::uint64_t entries_max() const { return arena_.size_bytes / sizeof(JournalCell); }

 private:
  bool find_first_chunk();
  bool follow_link(const JournalCell& link);
  bool enter(const Chunk& chunk);
  bool damaged() {
    is_damaged_ = true;
    return false;
  }
  const JournalCell& cell(std::uint32_t place) const { return cells_[place]; }

  PeerArena arena_;
  LogKey key_;
  DirectoryScan scan_;
  const JournalCell* cells_ = nullptr;  // of the chunk that reading stands in
  std::uint32_t cell_count_ = 0;
  std::uint64_t ordinal_ = 0;
  std::uint32_t place_ = 0;
  const JournalCell* last_ = nullptr;
  std::uint64_t read_count_ = 0;
  bool is_damaged_ = false;
};

}  // namespace llamada::log
