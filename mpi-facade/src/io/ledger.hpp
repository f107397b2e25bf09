#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "llamada/base/result.hpp"
#include "llamada/log/cuts.hpp"
#include "llamada/log/journal.hpp"
#include "replay/shortening.hpp"

namespace llamada::mpi {
class World;
}

namespace llamada::mpi::io {

/// What kind of operation on files an entry of the ledger is of.
enum class OperationKind : std::uint8_t {
  create = 1,
  open,
  remove,
  set_size,
  preallocate,
  get_size,
  sync,
  read,
  write,
  shared_pointer,
};
const char* to_string(OperationKind kind);
/// Whether such an operation changes what others see.
bool is_change(OperationKind kind);

/// The outcomes of a rank's operations on files, in their order: under rank_replacement REBUILD a replacement
/// takes them from here instead of doing again what its predecessor has done; others may have gone on since.
/// docs/decisions/0009-files-under-replacement.md; docs/internals/determinants.md has the bytes.
///
/// An operation that is not in the ledger when its rank dies is done anew: the program had not gone on.
///
/// Threads: the rank's.
class Ledger {
 public:
  /// An outcome of a predecessor.
  struct Entry {
    OperationKind kind = OperationKind::open;
    int error_number = 0;      ///< errno; 0 is success
    std::uint32_t digest = 0;  ///< CRC-32C of the operation's arguments, and of the data of a write
    std::uint64_t value = 0;
    std::uint32_t data_digest = 0;  ///< of what was read
    std::vector<std::byte> data;    ///< of what was read, if it was kept
    bool has_data = false;
  };

  /// Errors: what Journal::open() has.
  static Result<std::unique_ptr<Ledger>> open(World& world);

  /// Whether this rank has one, its own or a predecessor's.
  static bool is_there(World& world);

  /// Whether outcomes are recorded.
  bool recording() const { return recording_; }
  /// Whether the next operation has an outcome already.
  bool replaying() const { return !past_.entries.empty(); }

  /// The number of the next operation, from 1.
  std::uint64_t next_number() const { return number_ + 1; }

  /// Takes the outcome of the next operation; only while replaying(). Ends the job as diverged when that was
  /// another one.
  Entry take(OperationKind kind, std::uint32_t digest);
  /// Whether a predecessor had begun this operation when it died, and noted that what it was to make was not
  /// there (create) or what it was to remove was there (remove).
  bool was_announced() const { return !replaying() && past_.announced == next_number(); }
  /// Notes that; returns when it is kept, as begin() does.
  void announce();
  /// Notes that the next operation, which changes what others see, is about to be done; returns when that is
  /// kept (World::await_stable()). Ends the job as diverged when a predecessor had begun another one, which
  /// may have been done.
  void begin(OperationKind kind, std::uint32_t digest);
  /// The first operation that predecessors have done, or begun, and that has not come again; empty if there
  /// is none.
  std::string left_over() const;

  /// What is recorded, and repeated, from now on is of behind this checkpoint (World::checkpoint()).
  void pass_checkpoint();
  /// The same as of Determinants.
  void will_pass_checkpoint();
  void give_back_records();

  /// Keeps a piece of what the next operation reads.
  void keep(std::span<const std::byte> data);
  /// Records the outcome of the next operation; keep() was called for all of its data if `has_data`.
  void record(const Entry& entry);

  /// A replacement reads something else than its predecessor did, or cannot reach a file any more: ends the
  /// job.
  [[noreturn]] void diverged(const std::string& difference);

 private:
  explicit Ledger(World& world);
  void read_past();
  void append(const log::JournalEntry& entry);
  void keep_entry(const log::JournalEntry& entry);

  struct Begun {
    OperationKind kind;
    std::uint32_t digest;
    std::uint64_t number;
  };
  /// What predecessors did behind one checkpoint, or before the first.
  struct Past {
    std::deque<Entry> entries;
    std::uint64_t announced = 0;
    std::optional<Begun> begun;  // the last
  };

  World& world_;
  log::Journal journal_;
  log::CutMarks marks_;
  replay::Shortening shortening_;
  std::map<std::uint64_t, Past> pasts_;  // by checkpoint
  std::uint64_t last_passed_ = 0;        // the last of the checkpoints in the journal
  Past past_;                            // of the present one
  std::uint64_t number_ = 0;
  std::uint64_t kept_bytes_ = 0;
  bool recording_ = false;
};

}  // namespace llamada::mpi::io
