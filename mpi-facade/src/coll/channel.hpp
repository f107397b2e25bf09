#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coll/fitting.hpp"
#include "coll/loans.hpp"
#include "coll/members.hpp"
#include "coll/own_log.hpp"
#include "coll/pace.hpp"
#include "coll/peer_log.hpp"
#include "coll/record.hpp"
#include "coll/turns.hpp"
#include "llamada/base/crash_point.hpp"
#include "llamada/base/result.hpp"
#include "p2p/losses.hpp"
#include "world/world.hpp"

namespace llamada::mpi::coll {

/// The payload that one record carries of long data where logs are used again, if nobody chooses otherwise.
inline constexpr std::size_t piece_bytes_usual = std::size_t{64} * 1024;
/// The same where they are kept: then a piece takes new memory, and fewer system calls make it. For data so
/// long that each piece can be stored whole, that is worth more than pieces that can be shown again.
inline constexpr std::size_t kept_piece_bytes = std::size_t{128} * 1024;

/// The collectives of one communicator as one of its members sees them: the log that this member writes, and
/// a reader of each other member's log. Made at the communicator's first collective.
///
/// Collectives are numbered by ordinal, the same on all members, for they call them in the same order. Each
/// publishes and reads records (record.hpp) named by the ordinal and a Piece. A reader skips a record that is
/// for another member, or of a collective that is over here. So that no writer is held by such a record while
/// this member waits elsewhere, skip_stale() is to be called whenever the rank waits.
///
/// The parts: OwnLog and PeerLog (logs), Turns (nonblocking collectives), Loans (data that stay where they
/// are), Fitting (calls that do not fit each other), Pace (when to look).
///
/// A member hears of a record that it did not expect with the next collective in which it takes anything from
/// the same member.
///
/// Threads: the rank's MPI thread.
class Channel {
 public:
  struct Options {
    std::uint32_t context = 0;
    /// The number of a persistent collective of the communicator, which has a channel of its own: members may
    /// start such in different orders. 0: the communicator's channel.
    std::uint32_t persistent = 0;
    std::vector<int> members;  ///< world ranks, by rank in the communicator
    int self = 0;              ///< this process among them
    int first_peer = 0;
    int peer_count = -1;  ///< -1: all members are peers
    /// The rank's MPI call, for messages: "MPI_Allreduce, the rank's call 12".
    std::function<std::string()> describe_call = [] { return std::string("a collective call"); };
    /// Called after each new record; may be empty.
    std::function<void()> after_publish;
    bool keep_all = false;  ///< for replacements (rank_replacement REBUILD)
    /// In a replacement: whether it may contribute what no predecessor has contributed. Empty: always.
    std::function<bool()> may_contribute;
    /// Before a replay ends as diverged: ends the job otherwise, if another rank has damaged what it reads.
    std::function<void()> look_for_culprit = [] {};
    /// The most bytes in chunks of the log that are not yet consumed by all, when histories are not kept.
    std::size_t bound_bytes = std::size_t{1} << 20;
    /// The most payload that one record carries of long data where logs are used again. The same for all
    /// members.
    std::size_t piece_bytes = piece_bytes_usual;
  };

  static Result<std::unique_ptr<Channel>> open(World& world, Options options);
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// Of the communicator that it was made for: its name for ever.
  std::uint32_t context() const { return static_cast<std::uint32_t>(key_.low); }
  std::uint32_t persistent() const { return static_cast<std::uint32_t>(key_.low >> 32); }
  const Members& members() const { return members_; }
  int size() const { return members_.size(); }
  int self() const { return members_.self(); }

  Turns& turns() { return turns_; }
  const Turns& turns() const { return turns_; }
  Loans& loans() { return loans_; }
  Fitting& fitting() { return fitting_; }
  const Fitting& fitting() const { return fitting_; }
  Pace& pace() { return pace_; }

  // The collective in progress.

  /// Begins the next collective, or the next phase of one.
  void begin(Kind kind) {
    ++ordinal_;
    kind_ = kind;
    in_collective_ = true;
    pace_.begin();
  }
  /// The same, when nothing is needed from this member's own group of an intercommunicator.
  void begin_with_peers(Kind kind) {
    begin(kind);
    if (members_.is_intra()) return;
    for (int member = 0; member < size(); ++member)
      if (!members_.is_peer(member)) ignore(member);
  }
  /// This collective needs nothing from `member`.
  void ignore(int member) { peer(member).ignored = ordinal_; }
  /// It is over here: its records that are still to come are of no use.
  void end() {
    in_collective_ = false;
    fitting_.end(ordinal_);
  }
  Kind kind() const { return kind_; }
  /// The number of the last collective.
  std::uint32_t ordinal() const { return ordinal_; }

  bool failed() const { return fitting_.failed(); }
  void fail(std::string text) { fitting_.fail(ordinal_, std::move(text)); }
  /// Says that `member` gives another number of bytes than this member's arguments imply.
  void misfit(int member, std::uint64_t bytes, std::uint64_t bytes_expected) {
    fitting_.fail_misfit(ordinal_, misfit_text(self(), member, kind_, ordinal_, bytes, bytes_expected),
                         bytes > bytes_expected);
  }
  /// The same, but this collective goes on, and fails when it is over.
  void misfit_later(int member, std::uint64_t bytes, std::uint64_t bytes_expected) {
    fitting_.complain(misfit_text(self(), member, kind_, ordinal_, bytes, bytes_expected),
                      bytes > bytes_expected);
  }

  /// Memory for the collective in progress; nothing in it is kept from one collective to the next.
  std::vector<std::byte>& scratch() { return scratch_; }

  // Publishing.

  /// Publishes a record of its own, or a contribution that is one piece; false when there is no room now (try
  /// again after waiting).
  bool publish_whole(Piece piece, int audience, std::span<const std::byte> payload) {
    return publish_whole(head_of(piece, audience), payload);
  }
  /// The same with this head: the record may be of an earlier collective.
  bool publish_whole(const RecordHead& head, std::span<const std::byte> payload) {
    if (!own_log_.try_publish(head, payload)) return publish_slowly(head, payload, payload.size());
    published(head.audience, payload.size());
    return true;
  }
  /// Publishes a piece that lies in memory; false when there is no room now. `bytes_given`: of how many it is
  /// a piece; `run_bytes`: how long it and those that follow it at once are.
  bool publish(Piece piece, int audience, std::span<const std::byte> payload, std::uint64_t bytes_given,
               std::size_t run_bytes) {
    return payload.size() == bytes_given
               ? publish_whole(piece, audience, payload)
               : publish_slowly(head_of(piece, audience), payload, bytes_given, run_bytes);
  }
  /// The length of pieces where no other is agreed, for data that lie in `run_bytes` of memory; 0: in more
  /// than one place. A replacement makes the same ones, even if nothing is kept any more.
  std::size_t piece_bytes(std::size_t run_bytes) const {
    if (!keeps_all_at_first_) return piece_bytes_max_;
    return run_bytes < log::LogWriter::run_bytes_min ? kept_piece_bytes : log::stored_whole_bytes;
  }
  /// Options::piece_bytes: the length of pieces that all members cut alike, whatever is kept.
  std::size_t piece_bytes_max() const { return piece_bytes_max_; }
  /// Room for a record of `bytes`, to be filled and then committed; none when there is no room now. One at a
  /// time.
  std::optional<std::span<std::byte>> room(std::size_t bytes) {
    return room(bytes, log::LogWriter::Filling::in_place, 0);
  }
  /// `bytes_given`: of how many it is a piece.
  void commit(Piece piece, int audience, std::uint64_t bytes_given) {
    commit(head_of(piece, audience), bytes_given);
  }
  /// Counts bytes that another member took past the log.
  void count_sent(std::uint64_t bytes) { arena_.count(log::Counter::bytes_sent, bytes); }

  // Reading.

  /// The next record of this collective from `member` for this one, in place in its log until next() is
  /// called; none when it is not there yet, or when the members' calls do not fit (then failed() is true).
  std::optional<log::Record> peek(int member);
  /// The same for a contribution of so many bytes, at most 48, that is one piece with this name and the very
  /// next record: its payload. Null when there is none, or peek() has to look closer.
  const std::byte* peek_small(int member, Piece piece, std::size_t bytes) const {
    const Peer& from = peer(member);
    const log::Cell* const cell = from.log.reader().peek_cell();
    if (!cell || cell->label != RecordHead::label_of(ordinal_, piece) ||
        cell->kind != static_cast<std::uint8_t>(kind_) || cell->inline_size != bytes)
      return nullptr;
    const std::uint16_t audience = cell->flags;
    const bool is_usual = (audience == 0 || audience == RecordHead::flags_for(self())) && !from.left_over;
    return is_usual && !loans_.is_any_open() ? cell->payload : nullptr;
  }
  /// peek(), but a record is a failure if it has not the name and size that this member's arguments imply, or
  /// is a piece of another number of bytes than `bytes_given`.
  std::optional<log::Record> expect(int member, Piece piece, std::size_t bytes, std::uint64_t bytes_given);
  std::optional<log::Record> expect(int member, Piece piece, std::size_t bytes) {
    return expect(member, piece, bytes, bytes);
  }
  /// The next record from `member` for this one that is not of a collective that is over: of this one,
  /// whatever its kind, or of a later one.
  std::optional<log::Record> peek_wanted(int member);
  /// Moves on behind what peek() or peek_small() gave.
  void next(int member) {
    LLAMADA_CRASH_POINT("collective:taken");
    PeerLog& log = peer(member).log;
    log.reader().advance();
    if (lets_go_of(member) && log.has_left_chunk()) [[unlikely]]
      release(member);
    LLAMADA_CRASH_POINT("collective:passed");
  }
  /// Leaves the record behind, which peek_wanted() gave: it is of no use.
  void pass(int member, const log::Record& record);

  /// Moves all readers behind the records that collectives which are over here have left.
  void skip_stale();
  /// To be called by a rank that has waited long, some 100 ms apart: ends the job when a member's log shows
  /// that its rank has damaged its arena.
  void look_for_damage();

  // The members' processes.

  /// Whether the member is on this rank's node: else neither reaches the other's memory.
  bool is_local(int member) const { return world_.is_local(members_.world_rank(member)); }

  bool is_on_one_node() const {
    for (int member = 0; member < size(); ++member)
      if (!is_local(member)) return false;
    return true;
  }

  /// The processes of all members, if each reaches the memory of each other one, else nothing: all members
  /// have found out (Introduction).
  void set_processes(std::vector<int> processes) { processes_ = std::move(processes); }
  bool is_introduced() const { return processes_.has_value(); }
  bool reaches_memory() const { return processes_ && !processes_->empty(); }
  int process_of(int member) const { return (*processes_)[static_cast<std::size_t>(member)]; }

  // How it goes on, and ends (coll/channel_end.cpp).

  /// OwnLog::take_over()
  Status take_over(std::function<bool()> may_contribute);
  /// Its communicator is freed, and another one may go on with it (coll/spare_channels.hpp).
  void leave_communicator() { present_context_ = no_context; }
  /// Another communicator, of this context, goes on with it: what the one before left is not its affair.
  void change_communicator(std::uint32_t context);
  /// In a replacement: the first contribution of its predecessors that it has not repeated; empty if there is
  /// none.
  std::string left_over();
  /// This member reads nothing of the communicator any more and holds no writer (MPI_Comm_free).
  void retire();
  /// Fails where a member is lost, or the communicator revoked: what it waits for will not come.
  void look_at_losses(const Losses& losses);
  /// To be called when all members have left it behind a checkpoint, and this one has retired: gives back
  /// what is of no use any more.
  void discard();
  /// The process in this slot has ended.
  void part(int world_rank);
  /// To be called when the channel has retired: gives back what no member needs any more. True when that was
  /// all.
  bool give_back();

 private:
  /// A record that nobody took when its collective was over.
  struct LeftOver {
    Kind kind;
    std::uint32_t ordinal;
    std::uint64_t bytes;
  };
  /// Another member.
  struct Peer {
    PeerLog log;
    bool is_copy = false;        // of a log of another node: it is used again
    bool bounds_writer = false;  // its cursor is known to our writer
    log::DirectoryScan cursors_scan;
    bool is_gone = false;       // its process has ended, and its slot may be another's
    std::uint32_t ignored = 0;  // the collective that needs nothing from it
    std::optional<LeftOver> left_over;
  };
  /// Refusals of memory, with a look at everything between two of them, before the job gives up.
  static constexpr std::uint32_t refusals_max = 100'000;

  Channel(World& world, Options options);
  Peer& peer(int member) { return peers_[static_cast<std::size_t>(member)]; }
  const Peer& peer(int member) const { return peers_[static_cast<std::size_t>(member)]; }
  /// Whether what was read of its log is given back.
  bool lets_go_of(int member) const { return !keeps_all_ || peer(member).is_copy; }

  RecordHead head_of(Piece piece, int audience) const { return {kind_, ordinal_, piece, audience}; }
  bool publish_slowly(const RecordHead& head, std::span<const std::byte> payload, std::uint64_t bytes_given,
                      std::size_t run_bytes = 0);
  std::optional<std::span<std::byte>> room(std::size_t bytes, log::LogWriter::Filling filling,
                                           std::size_t run_bytes);
  void commit(const RecordHead& head, std::uint64_t bytes_given);
  void published(int audience, std::uint64_t bytes) {
    LLAMADA_CRASH_POINT("collective:contributed");
    arena_.count(log::Counter::messages_sent, 1, log::Counter::bytes_sent, bytes);
    if (after_publish_) after_publish_();
    if (audience != everybody) return wake(audience);
    const int count = size();
    for (int member = 0; member < count; ++member)
      if (member != self()) wake(member);
  }
  void wake(int member) { world_.wake_if_asleep(members_.world_rank(member), peer(member).log.sleeping()); }
  void compare(const RecordHead& head);
  void no_room(const Error& error);
  void update_retention();
  void find_readers();

  bool find_log(int member) { return peer(member).log.is_found() || look_for_log(member); }
  bool look_for_log(int member);
  bool needs_our_log(int member);
  bool has_log(int member);
  [[noreturn]] void damaged(int member, std::string_view how) const;
  bool is_wanted(int member, const log::Record& record) const;
  bool is_left_over(int member, const log::Record& record) const;
  void tell_left_over(int member);
  void release(int member);

  World& world_;
  log::ArenaWriter& arena_;
  log::LogKey key_;
  static constexpr std::uint32_t no_context = 0;
  std::uint32_t present_context_ = no_context;  // of the communicator that has it, which may be revoked
  Members members_;
  std::function<std::string()> describe_call_;
  std::function<void()> after_publish_;
  std::function<void()> look_for_culprit_;
  std::size_t piece_bytes_max_;
  bool keeps_all_at_first_;
  bool keeps_all_;
  bool in_collective_ = false;
  bool is_given_back_ = false;  // the own log
  Kind kind_ = Kind::barrier;
  std::uint32_t ordinal_ = 0;
  std::uint32_t refusals_ = 0;
  Pace pace_;
  Fitting fitting_;
  OwnLog own_log_;
  std::vector<Peer> peers_;
  Loans loans_;
  Turns turns_;
  std::vector<std::byte> scratch_;
  std::optional<std::vector<int>> processes_;
};

}  // namespace llamada::mpi::coll
