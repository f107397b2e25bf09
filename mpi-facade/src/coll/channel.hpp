#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "llamada/base/result.hpp"
#include "llamada/topics/log.hpp"
#include "world/world.hpp"

namespace llamada::mpi::coll {

/// Which collective a record belongs to; members that call different ones are told so.
enum class Kind : std::uint8_t {
  barrier = 32,
  bcast,
  reduce,
  allreduce,
  reduce_scatter,
  scan,
  exscan,
  gather,
  scatter,
  allgather,
  alltoall,
};
const char* to_string(Kind kind);

/// The audience of a record that all members read.
inline constexpr int everybody = -1;

/// The most payload that one record carries.
inline constexpr std::size_t piece_bytes_max = 64 * 1024;

/// What a communicator's collective logs are found by.
topics::LogKey collective_log_key(std::uint32_t context);

/// The collective log of one communicator as one of its members sees it: the log that this member writes, and
/// a reader of each other member's log. Made at the communicator's first collective.
///
/// Collectives are numbered by ordinal, the same on all members, for they call them in the same order. A
/// record is named by (ordinal, piece) and meant for one member or for everybody:
///   kind   Kind
///   flags  0 for everybody, else 1 + the member it is for
///   label  ordinal << 32 | piece
///
/// What a reader has no use for, because it is for another member or of a collective that is over here, it
/// skips; so that nobody's writer is held by it while this member waits elsewhere, Channel::skip_stale() is
/// to be called whenever the rank waits.
///
/// A replacement publishes again what its predecessor had published: such a record is compared with the one
/// in the log, and not written again.
///
/// Threads: the rank's MPI thread.
class Channel {
 public:
  struct Options {
    std::uint32_t context = 0;
    std::vector<int> members;  ///< world ranks, by rank in the communicator
    int self = 0;              ///< this process's rank in the communicator
    /// The rank's MPI call, for messages: "MPI_Allreduce, the rank's call 12".
    std::function<std::string()> describe_call = [] { return std::string("a collective call"); };
    /// Called after each new record; may be empty.
    std::function<void()> after_publish;
    bool keep_all = false;  ///< for replacements (rank_replacement REBUILD)
    /// The most bytes in chunks of the log that are not yet consumed by all, when histories are not kept.
    std::size_t bound_bytes = std::size_t{1} << 20;
  };

  static Result<std::unique_ptr<Channel>> open(World& world, Options options);
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  int size() const { return static_cast<int>(members_.size()); }
  int self() const { return self_; }

  /// Begins the next collective, or the next phase of one.
  void begin(Kind kind) {
    ++ordinal_;
    kind_ = kind;
    in_collective_ = true;
  }
  /// This collective needs nothing from `member`.
  void ignore(int member) { incoming_[member].ignored = ordinal_; }
  /// It is over here: what is still to come of it is of no use.
  void end() { in_collective_ = false; }

  /// Publishes a record of at most 48 bytes; false when there is no room now (try again after waiting).
  bool publish_small(std::uint32_t piece, int audience, std::span<const std::byte> payload);

  /// Room for a record of `bytes`, to be filled and then committed; none when there is no room now. One at a
  /// time.
  std::optional<std::span<std::byte>> room(std::size_t bytes);
  void commit(std::uint32_t piece, int audience);

  /// The next record of this collective from `member` for this one, in place in its log until next() is
  /// called; none when it is not there yet, or when the members' calls do not fit (then failed() is true).
  std::optional<topics::Record> peek(int member);
  /// Moves on behind what peek() gave.
  void next(int member);
  /// peek(), and what does not have the piece number and size that this member's arguments imply is a
  /// failure.
  std::optional<topics::Record> expect(int member, std::uint32_t piece, std::size_t bytes);

  /// Moves all readers behind what collectives that are over here have left.
  void skip_stale();

  /// Whether the members' calls do not fit each other, and how.
  bool failed() const { return !failure_.empty(); }
  const std::string& failure() const { return failure_; }

  /// This member reads nothing of the communicator any more and holds no writer (MPI_Comm_free).
  void retire();

 private:
  struct Incoming {
    topics::LogReader reader;
    bool found = false;
    bool bounds_writer = false;  // its cursor is known to our writer
    std::uint32_t logs_scanned = 0;
    std::uint32_t cursors_scanned = 0;
    std::uint64_t released = 0;
    std::uint32_t ignored = 0;  // the collective that needs nothing from it
  };
  /// Refusals of memory, with a look at everything between two of them, before the job gives up.
  static constexpr std::uint32_t refusals_max = 100'000;

  Channel(World& world, Options options);
  Status open_own_log();

  std::optional<topics::Record> predecessors_record();
  void published(int audience);
  void compare(std::uint32_t piece, int audience);
  [[noreturn]] void diverged(const topics::Record& record, std::uint32_t piece, int audience, bool same_name);
  void no_room(const Error& error);
  void update_retention();
  void find_readers();

  bool find_log(int member);
  std::optional<topics::Record> peek_current(int member);
  bool is_wanted(int member, const topics::Record& record) const;
  void release(int member);
  void fail(std::string text);

  std::uint64_t label(std::uint32_t piece) const { return std::uint64_t{ordinal_} << 32 | piece; }
  static std::uint16_t flags(int audience) { return static_cast<std::uint16_t>(audience + 1); }

  World& world_;
  std::uint32_t context_;
  std::vector<int> members_;
  int self_;
  std::size_t bound_bytes_;
  std::function<std::string()> describe_call_;
  std::function<void()> after_publish_;
  bool keeps_all_;
  std::uint32_t ordinal_ = 0;
  Kind kind_ = Kind::barrier;
  bool in_collective_ = false;
  std::uint32_t refusals_ = 0;
  std::string failure_;

  topics::LogWriter writer_;
  topics::Reservation reservation_;
  std::vector<Incoming> incoming_;

  // A replacement only: where it is in its predecessor's log, and what it would have published.
  std::optional<topics::LogReader> predecessor_;
  std::vector<std::byte> again_;
};

}  // namespace llamada::mpi::coll
