#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "llamada/base/crash_point.hpp"
#include "llamada/base/first_look.hpp"
#include "llamada/base/result.hpp"
#include "llamada/log/log_reader.hpp"
#include "llamada/log/log_writer.hpp"
#include "p2p/kept_payloads.hpp"
#include "world/peer_memory.hpp"
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
  neighbour,
  context,
};
const char* to_string(Kind kind);

/// The audience of a record that all members read.
inline constexpr int everybody = -1;

/// What a record says that has another member copy a part out of the memory in which it lies, in place of the
/// part itself.
struct Loan {
  std::uint64_t bytes = 0;
  std::uint64_t address = 0;
  ProcessCard lender;
};
static_assert(sizeof(Loan) <= log::inline_payload_max);

/// What carries a member's data is said by the numbers of its pieces, which begin at 0 or at one of these, so
/// that members whose lengths lead them different ways take nothing of each other's for what it is not.
inline constexpr std::uint32_t first_segment = 1u << 24;  ///< of a reduction
inline constexpr std::uint32_t first_dealt = 2u << 24;    ///< a contribution that is dealt out
inline constexpr std::uint32_t first_step = 3u << 24;     ///< what is said of data in memory
inline constexpr std::uint32_t first_card = 4u << 24;     ///< what is said before the first such
inline constexpr std::uint32_t first_loan = 5u << 24;     ///< where data lie that one member may copy
inline constexpr std::uint32_t loan_is_over = first_loan + 1;
inline constexpr std::uint32_t loan_of_place = first_loan + 2;  ///< where another may write what it lends
/// The one of a record that has the parts of all peers of a member: a table of where in it each begins and
/// the last one ends, by peer; behind it the parts.
inline constexpr std::uint32_t all_together = 0xffffffff;

/// The most payload that one record carries where logs are used again.
inline constexpr std::size_t piece_bytes_max = 64 * 1024;
/// The same where they are kept: then a piece takes new memory, and fewer system calls make it. Of data so
/// long that each piece can be stored whole, that is worth more than pieces that can be shown again.
inline constexpr std::size_t kept_piece_bytes = 128 * 1024;

/// What a communicator's collective logs are found by.
log::LogKey collective_log_key(std::uint32_t context, std::uint32_t persistent = 0);

/// The context and the number of the persistent collective in such a key; nothing for other keys.
std::optional<std::pair<std::uint32_t, std::uint32_t>> name_of_collective_log(const log::LogKey& key);

/// A nonblocking collective that is in progress, or waits until those called before it are done.
class Pending {
 public:
  virtual ~Pending() = default;
  /// Goes on as far as it can; true when it is over.
  virtual bool advance() = 0;
};

/// The collective log of one communicator as one of its members sees it: the log that this member writes, and
/// a reader of each other member's log. Made at the communicator's first collective.
///
/// The members of an intercommunicator are those of both groups: first the group whose first rank in
/// MPI_COMM_WORLD is lower. Peers are those whom a member gives to and takes from: all members, or those of
/// the other group.
///
/// Nonblocking collectives are carried out one after the other in the order of their calls, which all members
/// share, so that a replacement publishes the same records in the same order; a blocking one waits for those
/// before it.
///
/// Collectives are numbered by ordinal, the same on all members, for they call them in the same order. A
/// record is named by (ordinal, piece) and meant for one member or for everybody:
///   kind   Kind
///   flags  0 for everybody, else 1 + the member it is for
///   label  ordinal << 32 | piece
///   extra  behind 48 bytes of payload: how many bytes the member gives in all (u64); 0 for as many as that
///
/// What a reader has no use for, because it is for another member or of a collective that is over here, it
/// skips; so that nobody's writer is held by it while this member waits elsewhere, Channel::skip_stale() is
/// to be called whenever the rank waits.
///
/// When the members' calls do not fit each other, the channel has failed and is of no more use; unless only
/// counts or datatypes did not fit, and nobody waits for more from this member: then the next collective is
/// carried out as if nothing had happened. What a member was given and expected nothing of is told with the
/// next collective in which it takes anything from the same member.
///
/// A replacement publishes again what its predecessor had published: such a record is compared with the one
/// in the log, and not written again.
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
    /// Of a replacement: whether it may contribute what no predecessor has contributed. Empty: always.
    std::function<bool()> may_contribute;
    /// Before a replay ends as diverged: ends the job otherwise, if another rank has damaged what it reads.
    std::function<void()> look_for_culprit = [] {};
    /// The most bytes in chunks of the log that are not yet consumed by all, when histories are not kept.
    std::size_t bound_bytes = std::size_t{1} << 20;
  };

  static Result<std::unique_ptr<Channel>> open(World& world, Options options);
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  std::uint32_t context() const { return context_; }
  std::uint32_t persistent() const { return persistent_; }
  const std::vector<int>& members() const { return members_; }
  /// The number of the last collective.
  std::uint32_t ordinal() const { return ordinal_; }
  int size() const { return static_cast<int>(members_.size()); }
  int self() const { return self_; }
  int peer_begin() const { return peer_begin_; }
  int peer_end() const { return peer_end_; }
  int peer_count() const { return peer_end_ - peer_begin_; }
  /// Whether this member is one of its peers.
  bool is_intra() const { return self_ >= peer_begin_ && self_ < peer_end_; }
  /// This member's rank in its group: its place among the peers of its peers.
  int rank() const { return is_intra() || peer_begin_ > 0 ? self_ : self_ - peer_end_; }

  /// Begins the next collective, or the next phase of one.
  void begin(Kind kind) {
    ++ordinal_;
    kind_ = kind;
    in_collective_ = true;
    is_answer_awaited_ = false;
  }
  /// The same, when nothing is needed from this member's own group of an intercommunicator.
  void begin_with_peers(Kind kind) {
    begin(kind);
    if (is_intra()) return;
    for (int member = 0; member < size(); ++member)
      if (member < peer_begin_ || member >= peer_end_) ignore(member);
  }
  /// This collective needs nothing from `member`.
  void ignore(int member) { incoming_[member].ignored = ordinal_; }
  /// It is over here: what is still to come of it is of no use.
  void end() {
    in_collective_ = false;
    if (!complaint_.empty()) [[unlikely]]
      fail_late();
  }

  /// Puts a nonblocking collective behind those that are pending. It must stay until advance() has given
  /// true, or be withdrawn.
  void enqueue(Pending& pending) { pending_.push_back(&pending); }
  void withdraw(const Pending& pending) { std::erase(pending_, &pending); }
  /// How many tasks know the channel, from their making to the moment in which the program is told of their
  /// end.
  void add_task() { ++task_count_; }
  void remove_task() { --task_count_; }
  bool has_tasks() const { return task_count_ != 0; }
  /// Goes on with the pending ones in the order of their calls; true when none is left.
  bool advance();
  bool is_idle() const { return pending_.empty(); }

  /// Publishes a record of its own, or a contribution that is one piece; false when there is no room now (try
  /// again after waiting).
  bool publish_whole(std::uint32_t piece, int audience, std::span<const std::byte> payload) {
    return try_publish(piece, audience, payload) || publish_slowly(piece, audience, payload, payload.size());
  }

  /// Publishes a piece that lies in memory; false when there is no room now. `bytes_given`: of how many it is
  /// a piece; `run_bytes`: how long it and those that follow it at once are.
  bool publish(std::uint32_t piece, int audience, std::span<const std::byte> payload,
               std::uint64_t bytes_given, std::size_t run_bytes) {
    return payload.size() == bytes_given ? publish_whole(piece, audience, payload)
                                         : publish_slowly(piece, audience, payload, bytes_given, run_bytes);
  }
  /// The length of pieces where no other is agreed, of data that lie in `run_bytes` of memory; 0: in more
  /// than one place. A replacement makes the same ones, even if nothing is kept any more.
  std::size_t piece_bytes(std::size_t run_bytes) const {
    if (!keeps_all_at_first_) return piece_bytes_max;
    return run_bytes < log::LogWriter::run_bytes_min ? kept_piece_bytes : log::stored_whole_bytes;
  }

  /// Room for a record of `bytes`, to be filled and then committed; none when there is no room now. One at a
  /// time.
  std::optional<std::span<std::byte>> room(std::size_t bytes) {
    return room(bytes, log::LogWriter::Filling::in_place);
  }
  /// `bytes_given`: of how many it is a piece.
  void commit(std::uint32_t piece, int audience, std::uint64_t bytes_given);

  /// The next record of this collective from `member` for this one, in place in its log until next() is
  /// called; none when it is not there yet, or when the members' calls do not fit (then failed() is true).
  std::optional<log::Record> peek(int member);
  /// The same for a contribution of so many bytes, at most 48, that is one piece with this number and the
  /// very next record: its payload. Null when there is none, or peek() has to look closer.
  const std::byte* peek_small(int member, std::uint32_t piece, std::size_t bytes) const {
    const Incoming& incoming = incoming_[static_cast<std::size_t>(member)];
    const log::Cell* const cell = incoming.reader.peek_cell();
    if (!cell || cell->label != label(piece) || cell->kind != static_cast<std::uint8_t>(kind_) ||
        cell->inline_size != bytes)
      return nullptr;
    const std::uint16_t audience = cell->flags;
    const bool is_usual = (audience == 0 || audience == flags(self_)) && !incoming.left_over;
    return is_usual && loans_open_ == 0 ? cell->payload : nullptr;
  }
  /// Moves on behind what peek() or peek_small() gave.
  void next(int member) {
    Incoming& incoming = incoming_[static_cast<std::size_t>(member)];
    LLAMADA_CRASH_POINT("collective:taken");
    ++taken_in_a_row_;
    incoming.reader.advance();
    if (!keeps_all_ && incoming.reader.position_chunk() != incoming.released) [[unlikely]]
      release(member);
    LLAMADA_CRASH_POINT("collective:passed");
  }
  /// How often to look before one waits for another member in the usual way: it is about to write, if it has
  /// a core of its own.
  int looks_before_waiting() const { return looks_before_waiting_; }
  /// Something small is published, and then others' parts are taken: the first of them comes about as long
  /// after as it did before.
  void await_answer() { is_answer_awaited_ = looks_before_waiting_ > 0; }
  /// When to look for it, once; else null.
  FirstLook* take_awaited_answer() {
    return std::exchange(is_answer_awaited_, false) ? &first_look_ : nullptr;
  }
  /// To be called before a small record is taken. Who follows a writer closely takes from it the lines that
  /// it is about to write, and both are slow. Where one of two members has only taken for a while, so that
  /// nobody waits for it, it lets the other get some records ahead, if they come within some microseconds; if
  /// they do not, it tries again later and later.
  void let_run_ahead(int member) {
    if (known_to_be_there_ > 0)
      --known_to_be_there_;
    else if (taken_in_a_row_ >= taken_in_a_row_min && size() == 2)
      try_to_let_run_ahead(member);
  }
  /// peek(), and what does not have the piece number and size that this member's arguments imply, or is of
  /// another number of bytes than `bytes_given`, is a failure.
  std::optional<log::Record> expect(int member, std::uint32_t piece, std::size_t bytes,
                                    std::uint64_t bytes_given);
  std::optional<log::Record> expect(int member, std::uint32_t piece, std::size_t bytes) {
    return expect(member, piece, bytes, bytes);
  }

  /// Moves all readers behind what collectives that are over here have left.
  void skip_stale();
  /// For who has waited long: ends the job when a member's log shows that its rank has damaged its arena. To
  /// be called some 100 ms apart.
  void look_for_damage();

  // Loans (coll/loans.cpp): a member's part for another one stays where it is until that one has copied it
  // and said so. Who lends decides that alone; who takes goes by what comes. The lender does not leave the
  // collective before, for which also counts that the other has left it.

  /// Lends `member` its part in this collective; false when there is no room now. As a loan_of_place: asks
  /// who lends a part to write it there; if that one cannot, or is about to fail, this is refused.
  bool lend(int member, std::span<const std::byte> part, std::uint32_t piece = first_loan);
  enum class LoanState : std::uint8_t {
    none,
    open,
    over,    ///< it is copied, or will not be
    refused  ///< the other does not reach this process's memory: it waits for the part in the log
  };
  LoanState loan_to(int member);
  /// Whether the member may be lent something.
  bool may_lend_to(int member) { return !account(member).refuses_loans; }
  /// When this collective has failed here: passes all that others still give, until nothing is lent any more.
  bool wind_up();

  static bool is_loan(const log::Record& record) {
    return piece_of(record) == first_loan && record.payload.size() == sizeof(Loan);
  }
  /// Takes on what the member lends by this record, until give_back().
  void borrow(int member, const log::Record& record);
  const Loan& borrowed(int member) { return account(member).borrowed; }
  /// Whether this process reaches the memory of the member, whose process has this card.
  bool reaches(int member, const ProcessCard& card) { return account(member).reach.of(card); }
  /// As if it had been found out.
  void set_reached(int member, const ProcessCard& card, bool reached) {
    account(member).reach.set(card, reached);
  }
  /// Says that the member's loan of this collective is over; if there is no room now, settle() does later.
  void give_back(int member, bool was_reached);
  /// Whether all is said that is to be said of others' loans.
  bool settle() { return debts_ == 0 || settle_all(); }

  static std::uint32_t piece_of(const log::Record& record) {
    return static_cast<std::uint32_t>(record.label);
  }
  /// This member's part of a record for all peers; none when there is no such thing in it.
  std::optional<std::span<const std::byte>> own_part(const log::Record& record) const;
  /// How many bytes for this member the record is a piece of, as far as it says.
  std::uint64_t bytes_given(const log::Record& record) const;
  /// Whether it is a piece of so many bytes, as far as it says.
  static bool is_of(const log::Record& record, std::uint64_t bytes) {
    if (record.extra.empty()) return true;
    std::uint64_t given;
    std::memcpy(&given, record.extra.data(), sizeof(given));
    return (given == 0 ? record.payload.size() : given) == bytes;
  }
  /// Says that what `member` gives is not what this member's arguments imply.
  void misfit(int member, std::uint64_t bytes, std::uint64_t bytes_expected) {
    fail_misfit(misfit_text(member, kind_, ordinal_, bytes, bytes_expected), bytes > bytes_expected);
  }
  /// The same, but this collective goes on, and fails when it is over.
  void misfit_later(int member, std::uint64_t bytes, std::uint64_t bytes_expected) {
    complain(misfit_text(member, kind_, ordinal_, bytes, bytes_expected), bytes > bytes_expected);
  }

  /// The processes of all members, if each reaches the memory of each other one, else nothing: all members
  /// have found out (Introduction).
  void set_processes(std::vector<int> processes) {
    processes_ = std::move(processes);
    is_introduced_ = true;
  }
  bool is_introduced() const { return is_introduced_; }
  bool reaches_memory() const { return !processes_.empty(); }
  int process_of(int member) const { return processes_[static_cast<std::size_t>(member)]; }

  /// For what the collective in progress keeps; nothing of it is kept from one collective to the next.
  std::vector<std::byte>& scratch() { return scratch_; }

  /// Whether the members' calls do not fit each other, and how.
  bool failed() const { return !failure_.empty(); }
  /// Whether nothing is to be said when the collective is over.
  bool is_well() const { return failure_.empty() && complaint_.empty(); }
  /// The first failure stays.
  void fail(std::string text);
  /// What others gave was not what this member expected; but they got from it all that they want in this
  /// collective, and the next one's records have other names: no more is lost than this one.
  void outlive_misfit() { is_outlived_ = is_misfit_; }
  /// The next collective is about to begin: what only an earlier one lost is forgotten.
  void forget_misfit() {
    if (is_outlived_) failure_.clear();
    is_misfit_ = is_outlived_ = false;
  }
  const std::string& failure() const { return failure_; }
  /// Whether what was given is longer than what was expected.
  bool is_too_long() const { return is_too_long_; }

  /// Another communicator goes on with it (coll/spare_channels.hpp): what the one before left is not its
  /// affair.
  void change_communicator();
  /// Whether calls ever did not fit each other: members may then differ in what they have seen.
  bool ever_failed() const { return ever_failed_; }

  /// In a replacement: the first contribution of its predecessors that it has not repeated; empty if there is
  /// none.
  std::string left_over();

  /// This member reads nothing of the communicator any more and holds no writer (MPI_Comm_free).
  void retire();
  /// The process in this slot has ended.
  void part(int world_rank);
  /// Of a channel that has retired: gives back what no member needs any more. True when that was all.
  bool give_back();

 private:
  /// What nobody took when its collective was over.
  struct LeftOver {
    Kind kind;
    std::uint32_t ordinal;
    std::uint64_t bytes;
  };
  /// What is to be said of a loan that is over.
  struct Debt {
    Kind kind;
    std::uint32_t ordinal;
    bool was_reached;
  };
  struct Incoming {
    log::LogReader reader;
    bool found = false;
    bool bounds_writer = false;  // its cursor is known to our writer
    log::DirectoryScan logs_scan;
    log::DirectoryScan cursors_scan;
    bool is_gone = false;  // its process has ended, and its slot may be another's
    std::uint64_t released = 0;
    std::uint32_t ignored = 0;  // the collective that needs nothing from it
    std::optional<LeftOver> left_over;
    const std::atomic<std::uint32_t>* sleeping = nullptr;  // its word; null: the world is to be asked
  };
  /// What is lent to and borrowed from a member.
  struct Account {
    std::uint32_t lent_in = 0;  // the last collective in which it was lent something
    LoanState loan = LoanState::none;
    bool refuses_loans = false;
    std::span<const std::byte> part;  // that is lent to it
    Loan borrowed;
    std::optional<Debt> debt;
    KnownReach reach;
  };
  // Of let_run_ahead().
  static constexpr std::uint32_t taken_in_a_row_min = 16;
  static constexpr std::uint32_t records_ahead = 8;
  static constexpr std::uint32_t takes_between_trials_min = 64;
  static constexpr std::uint32_t takes_between_trials_max = 8192;
  static constexpr int looks_of_trial = 100;
  static constexpr int looks_of_own_core = 128;
  /// Refusals of memory, with a look at everything between two of them, before the job gives up.
  static constexpr std::uint32_t refusals_max = 100'000;

  Channel(World& world, Options options);
  Status open_own_log();

  std::optional<log::Record> predecessors_record();
  bool try_publish(std::uint32_t piece, int audience, std::span<const std::byte> payload) {
    if (predecessor_ ||
        !writer_.try_publish(static_cast<std::uint8_t>(kind_), flags(audience), label(piece), payload))
      return false;
    published(audience, payload.size());
    return true;
  }
  bool publish_again(std::uint32_t piece, int audience, std::span<const std::byte> payload,
                     std::uint64_t bytes_given);
  bool publish_slowly(std::uint32_t piece, int audience, std::span<const std::byte> payload,
                      std::uint64_t bytes_given, std::size_t run_bytes = 0);
  void published(int audience, std::uint64_t bytes) {
    taken_in_a_row_ = 0;
    LLAMADA_CRASH_POINT("collective:contributed");
    arena_.count(log::Counter::messages_sent, 1, log::Counter::bytes_sent, bytes);
    if (after_publish_) after_publish_();
    if (audience != everybody) return wake(audience);
    const int count = size();
    for (int member = 0; member < count; ++member)
      if (member != self_) wake(member);
  }
  void wake(int member) {
    const auto index = static_cast<std::size_t>(member);
    world_.wake_if_asleep(members_[index], incoming_[index].sleeping);
  }
  void compare(std::uint32_t piece, int audience);
  [[noreturn]] void diverged(const log::Record& record, std::uint32_t piece, int audience, bool same_name);
  void no_room(const Error& error);
  void update_retention();
  void find_readers();

  bool find_log(int member);
  bool needs_our_log(int member);
  bool has_log(int member);
  [[noreturn]] void damaged(int member, std::string_view how) const;
  void try_to_let_run_ahead(int member);
  std::optional<log::Record> peek_current(int member);
  bool is_wanted(int member, const log::Record& record) const;
  void pass(int member, const log::Record& record);
  bool is_left_over(int member, const log::Record& record) const;
  void tell_left_over(int member);
  void release(int member);
  void fail_misfit(std::string text, bool is_too_long);
  void complain(std::string text, bool is_too_long);
  void fail_late();
  std::string misfit_text(int member, Kind kind, std::uint32_t ordinal, std::uint64_t bytes,
                          std::uint64_t bytes_expected) const;

  static std::uint32_t ordinal_of(const log::Record& record) {
    return static_cast<std::uint32_t>(record.label >> 32);
  }
  /// Ordinals wrap around; two that are compared are always less than half the range apart.
  static std::int32_t age(std::uint32_t ordinal, std::uint32_t reference) {
    return static_cast<std::int32_t>(ordinal - reference);
  }

  static bool is_place(const log::Record& record) {
    return piece_of(record) == loan_of_place && record.payload.size() == sizeof(Loan);
  }
  static bool is_answer(const log::Record& record) { return piece_of(record) == loan_is_over; }
  Account& account(int member) {
    accounts_.resize(members_.size());
    return accounts_[static_cast<std::size_t>(member)];
  }
  std::optional<std::span<std::byte>> room(std::size_t bytes, log::LogWriter::Filling filling,
                                           std::size_t run_bytes = 0);
  bool settle_all();
  void owe(int member, const Debt& debt);
  void write_into_place(int member, const log::Record& record);
  void end_loan(int member, LoanState state);
  void take_back(int member, const log::Record& record);

  std::uint64_t label(std::uint32_t piece) const { return std::uint64_t{ordinal_} << 32 | piece; }
  static std::uint16_t flags(int audience) { return static_cast<std::uint16_t>(audience + 1); }

  World& world_;
  log::ArenaWriter& arena_;
  int looks_before_waiting_;
  FirstLook first_look_;
  bool is_answer_awaited_ = false;
  std::uint32_t context_;
  std::uint32_t persistent_;
  log::LogKey key_;
  std::vector<int> members_;
  int self_;
  int peer_begin_;
  int peer_end_;
  std::size_t bound_bytes_;
  std::function<std::string()> describe_call_;
  std::function<void()> after_publish_;
  std::function<bool()> may_contribute_;
  std::function<void()> look_for_culprit_;
  bool keeps_all_at_first_;
  bool keeps_all_;
  std::uint32_t ordinal_ = 0;
  Kind kind_ = Kind::barrier;
  bool in_collective_ = false;
  std::uint32_t refusals_ = 0;
  std::uint32_t taken_in_a_row_ = 0;
  std::uint32_t known_to_be_there_ = 0;
  std::uint32_t takes_before_trial_ = 0;
  std::uint32_t takes_between_trials_ = takes_between_trials_min;  // twice as many after each in vain
  std::string failure_;
  bool is_misfit_ = false;    // of counts or datatypes, not of calls
  bool is_outlived_ = false;  // the misfit
  bool is_too_long_ = false;
  std::string complaint_;  // becomes the failure when the collective is over
  bool complaint_is_too_long_ = false;
  bool ever_failed_ = false;
  std::uint32_t failed_ordinal_ = 0;  // up to there nobody wonders what is left over

  log::LogWriter writer_;
  log::Reservation reservation_;
  KeptPayloads kept_;
  std::vector<Incoming> incoming_;
  bool is_given_back_ = false;  // the own log
  std::deque<Pending*> pending_;
  int task_count_ = 0;
  bool advancing_ = false;
  std::vector<std::byte> scratch_;
  std::vector<int> processes_;
  bool is_introduced_ = false;
  std::vector<Account> accounts_;
  int loans_open_ = 0;
  int debts_ = 0;

  // Of a replacement, until it may contribute what is new: where it is in its predecessor's log, and what it
  // would have published.
  std::optional<log::LogReader> predecessor_;
  std::vector<std::byte> again_;
};

}  // namespace llamada::mpi::coll
