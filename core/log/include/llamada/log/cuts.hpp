#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "llamada/base/result.hpp"
#include "llamada/log/journal_reader.hpp"

// Cuts: how what many processes record is taken out of their arenas so that it fits together.
// docs/internals/job-store.md.

namespace llamada::log {

/// The low byte of JournalEntry::head of a mark: what lies behind it belongs to the cut with the number
/// JournalEntry::value, or a later one. Who reads a journal for what it says passes over it.
inline constexpr std::uint32_t cut_mark = 10;
constexpr bool is_cut_mark(const JournalEntry& entry) { return (entry.head & 0xff) == cut_mark; }

/// For who appends to a journal: when a mark is to be appended first.
///
/// Threads: the journal's.
class CutMarks {
 public:
  /// Of a job that makes no cuts.
  CutMarks() = default;
  /// The number of the present cut, which its one writer raises: 0 if the job makes none. Null: the same.
  explicit CutMarks(const std::atomic<std::uint64_t>* cut) : cut_(cut) {}

  /// The mark to append before anything else, once for each number. Before each change of a journal.
  std::optional<JournalEntry> due() {
    if (cut_ == nullptr) return std::nullopt;
    // Acquire: whoever has heard of a later cut and told this process has made it visible here. The driver
    // stores it with release order.
    const std::uint64_t number = cut_->load(std::memory_order_acquire);
    if (number == marked_) [[likely]]
      return std::nullopt;
    marked_ = number;
    return JournalEntry{cut_mark, 0, number};
  }

 private:
  const std::atomic<std::uint64_t>* cut_ = nullptr;
  std::uint64_t marked_ = 0;
};

/// Reads out of a journal what belongs to one cut after the other. Marks are not among what it gives, and are
/// not counted.
///
/// Threads: one. The mapping must outlive it.
class CutReader {
 public:
  /// Entries that were put into a journal for a process that resumes: so many, of which the last has the
  /// index before `end`. There are fewer than that where some are no longer needed.
  struct Restored {
    std::uint64_t count = 0;
    std::uint64_t end = 0;
  };
  /// The journal begins with what was restored, which is not told. Behind it comes a mark, if anything.
  CutReader(PeerArena arena, LogKey key) : CutReader(arena, key, {0, 0}) {}
  CutReader(PeerArena arena, LogKey key, Restored restored)
      : reader_(arena, key), restored_left_(restored.count), told_(restored.end) {}

  struct Piece {
    std::uint64_t first = 0;  ///< the index of the first entry, marks not counted
    std::vector<JournalEntry> entries;
  };
  /// What has been recorded since the last call before a mark of `next_cut` or a later one. The last entry
  /// that was told comes again if it has changed in place. Errors: parse_error, the journal is damaged.
  Result<Piece> read(std::uint64_t next_cut);

 private:
  void settle(Piece& piece);

  JournalReader reader_;
  std::uint64_t restored_left_;
  std::uint64_t told_;                     // the index of the next entry
  std::optional<JournalEntry> last_told_;  // while it may still change
  std::uint64_t stopped_at_ = 0;           // the number of a mark that reading has come to, if it is not over
};

}  // namespace llamada::log
