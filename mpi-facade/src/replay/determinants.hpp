#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "llamada/base/crash_point.hpp"
#include "llamada/base/owner_lock.hpp"
#include "llamada/log/cuts.hpp"
#include "llamada/log/journal.hpp"
#include "replay/replayer.hpp"
#include "replay/shortening.hpp"

namespace llamada::mpi {
class World;
}

namespace llamada::mpi::replay {

/// The determinants of a rank: those of its predecessors, to be replayed, and the journal behind them in
/// which new ones are recorded. Only under rank_replacement REBUILD is anything recorded; else every function
/// is one branch.
///
/// Threads: the rank's. Where another thread of the process is in MPI while the rank's asks for clocks and
/// random numbers, what both record is whole, but its order is theirs: a replay that meets another one ends
/// as diverged.
class Determinants {
 public:
  /// Errors: what Journal::open() and Replayer::read() have.
  static Result<std::unique_ptr<Determinants>> open(World& world);

  /// Whether outcomes are recorded: false without REBUILD, and once the job is no longer protected.
  bool recording() const { return recording_; }
  void stop_recording() { recording_ = false; }
  /// Whether clocks and the like are to be asked through here.
  bool active() const { return recording_ || replaying(); }
  /// Whether the calling thread is in the midst of recording or of taking memory from the arena: the caller
  /// is then a signal handler that has interrupted it, and must not record.
  bool is_busy_here() const { return busy_.held_here() || arena_.is_allocating(); }
  /// Whether this is the process id that the program was told.
  bool is_told_pid(std::uint64_t pid) const { return pid_ != 0 && pid == pid_; }
  /// Whether there are outcomes to be replayed.
  bool replaying() const { return replayer_.outcomes_left(); }
  Replayer& replayer() { return replayer_; }

  void record_match(std::uint64_t post_index, const Match& match) {
    if (!recording_) return;
    const Turn turn(*this);
    LLAMADA_CRASH_POINT("match:decided");
    append(match_entry(post_index, match));
    LLAMADA_CRASH_POINT("match:recorded");
  }
  void record_fruitless() {
    if (!recording_) return;
    const Turn turn(*this);
    const auto last = journal_.last();
    if (last && is_fruitless(*last))
      journal_.set_last_count(last->count + 1);
    else
      append(fruitless_entry());
    LLAMADA_CRASH_POINT("fruitless:recorded");
  }
  void record_completion(CallKind kind, std::span<const std::uint32_t> indices);
  void record_message(CallKind kind, const Match& message) {
    if (!recording_) return;
    const Turn turn(*this);
    LLAMADA_CRASH_POINT("probe:decided");
    append(message_entry(kind, message));
    LLAMADA_CRASH_POINT("probe:recorded");
  }
  void record_cancelled(std::uint64_t post_index) {
    if (!recording_) return;
    const Turn turn(*this);
    LLAMADA_CRASH_POINT("cancel:decided");
    append(cancelled_entry(post_index));
    LLAMADA_CRASH_POINT("cancel:recorded");
  }
  void record_value(ValueId id, std::uint64_t value);
  void record_bytes(std::span<const std::byte> bytes);
  /// The bytes that were recorded next, only while replaying(). Ends the job if something else comes next, or
  /// more of them.
  std::vector<std::byte> take_bytes(std::size_t size_bytes_max);

  /// What a clock says to the program when it really stands at `now`: in a replay what was recorded; behind
  /// it never less than that, and going on from there. Recorded.
  std::uint64_t read_clock(ValueId id, std::uint64_t now);
  /// What has no order, as the core that the rank runs on: in a replay what was recorded, else `now`.
  /// Recorded.
  std::uint64_t read_value(ValueId id, std::uint64_t now);
  /// The process id that the program sees: the first one recorded. Recorded.
  std::uint64_t read_pid(std::uint64_t real);
  /// Fills `bytes`, with what was recorded or by `generate(bytes)`, and records. Gives how many there are.
  template <typename Generate>
  std::size_t read_random(std::span<std::byte> bytes, Generate generate) {
    if (replaying()) {
      const std::vector<std::byte> recorded = take_bytes(bytes.size());
      std::copy(recorded.begin(), recorded.end(), bytes.begin());
      return recorded.size();
    }
    const std::size_t size = generate(bytes);
    record_bytes(bytes.first(size));
    return size;
  }

  /// Before a change outside the job: World::await_stable(), if outcomes are recorded.
  void await_stable();

  /// Ends the job: a replacement does something else than its predecessor did, or cannot go on as it would
  /// have.
  [[noreturn]] void diverged(std::string_view difference);

  /// Ends the job as one without protection: the rank died in the midst of something outside the job, and
  /// nobody can tell how much of that was done. `why` is one sentence without a full stop.
  [[noreturn]] void cannot_be_replaced(std::string_view why);

  // Checkpoints: a record behind each, of which a process replays the first, and the last. A life of the job
  // is from a start of all ranks to the end of all. A later life may go on from an earlier checkpoint, whose
  // files are whole: then the records behind it are replayed, too, one after another.

  /// The checkpoint from which this process will go on, once it has come to its first one; 0: none, or it
  /// has.
  std::uint32_t goes_on_from() const { return goes_on_from_; }
  /// Whether a predecessor has passed this checkpoint, or a later one, in this life of the job or before.
  bool was_passed(std::uint32_t checkpoint) const { return checkpoint <= last_passed_; }
  /// Whether there is a record behind a later checkpoint, which is to be replayed after the present one.
  bool is_checkpoint_left() const { return goes_on_from_ != 0 || !later_.empty(); }
  /// What is recorded, and replayed, from now on is of behind this checkpoint. Nothing may be left of what is
  /// replayed now.
  void pass_checkpoint(std::uint32_t checkpoint);
  /// The memory of records that nobody needs: Shortening::will_pass() and give_back(). Only around a
  /// checkpoint that no predecessor has passed.
  void will_pass_checkpoint();
  void give_back_records();
  /// What clocks have told the program, for a checkpoint. A program that goes on from there is told nothing
  /// earlier.
  struct ToldClock {
    std::uint32_t id = 0;
    std::uint64_t last = 0;
  };
  std::vector<ToldClock> told_clocks() const;
  void restore_clocks(std::span<const ToldClock> told);
  /// How often the program was given anything that it read from standard input.
  std::uint64_t inputs_read() const { return inputs_read_; }
  void input_read() { ++inputs_read_; }

  // A standby (standby/standby.hpp).

  /// The end of the journal.
  struct Mark {
    std::uint64_t entries = 0;
    std::uint32_t last_count = 0;  ///< of the last entry, which may become longer
  };
  Mark mark() const {
    const auto last = journal_.last();
    return {journal_.size(), last ? last->count : 0};
  }
  /// In a copy of the process, in the arena that it has taken over: what was recorded behind the mark, which
  /// the copy was made at, is to be replayed. Errors: those of open().
  Status take_over(const Mark& mark);

  /// Writes the counters of the arena: determinants replayed.
  void publish_counters();

 private:
  /// One thread at a time adds to the journal, or changes its last entry: behind the mark of the present cut.
  class Turn {
   public:
    explicit Turn(Determinants& determinants) : lock_(determinants.busy_) {
      if (const auto mark = determinants.marks_.due()) [[unlikely]]
        determinants.keep(*mark);
    }

   private:
    std::lock_guard<OwnerLock> lock_;
  };

  explicit Determinants(World& world);
  Status read_past(std::span<const log::JournalEntry> entries);
  void append(const log::JournalEntry& entry) {
    if (!journal_.try_append(entry)) [[unlikely]]
      return append_slowly(entry);
    counted();
  }
  void append_slowly(const log::JournalEntry& entry);
  bool keep(const log::JournalEntry& entry);
  void counted() {
    arena_.count(log::Counter::determinants_recorded, 1, log::Counter::bytes_recorded,
                 sizeof(log::JournalCell));
  }
  World& world_;
  log::ArenaWriter& arena_;
  log::Journal journal_;
  log::CutMarks marks_;
  Shortening shortening_;
  mutable OwnerLock busy_;
  Replayer replayer_;
  bool recording_ = false;
  std::uint64_t published_replayed_ = 0;
  std::map<std::uint32_t, std::vector<log::JournalEntry>> later_;  // by the checkpoint behind which they are
  std::uint32_t last_passed_ = 0;                                  // the highest in the journal
  std::uint32_t passed_in_life_ = 0;                               // of those of the present life
  std::uint32_t life_ = 0;                                         // 0: the first
  std::uint32_t goes_on_from_ = 0;
  std::uint64_t inputs_read_ = 0;
  struct ClockState {
    std::uint32_t id = 0;  ///< 0: nobody's yet
    std::uint64_t last = 0;
    std::uint64_t offset = 0;
    bool replayed = false;
  };
  ClockState& clock_state(ValueId id);
  /// In place: a signal handler may ask for the first time while its thread is taking memory. The last one
  /// serves all clocks for which there is no other.
  static constexpr std::size_t clocks_max = 64;
  std::array<ClockState, clocks_max> clocks_{};
  std::uint64_t pid_ = 0;
};

}  // namespace llamada::mpi::replay
