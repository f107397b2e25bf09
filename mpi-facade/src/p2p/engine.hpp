#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "llamada/base/clock.hpp"
#include "llamada/qos/tuning_table.hpp"
#include "object/status.hpp"
#include "p2p/awaits.hpp"
#include "p2p/describe_rank.hpp"
#include "p2p/direct_copies.hpp"
#include "p2p/early_copies.hpp"
#include "p2p/incoming.hpp"
#include "p2p/losses.hpp"
#include "p2p/outgoing.hpp"
#include "p2p/progress.hpp"
#include "p2p/receiving.hpp"
#include "p2p/replay_course.hpp"
#include "p2p/request.hpp"
#include "p2p/upkeep.hpp"
#include "p2p/waiting.hpp"
#include "replay/determinants.hpp"
#include "world/world.hpp"

namespace llamada::mpi {

class CallCounter;

/// Point-to-point communication of one rank: what the C functions and the other chapters call. It holds the
/// parts together, each of which has one subject: Receiving, Outgoing, Progress, Waiting, ReplayCourse,
/// Upkeep.
///
/// Threads: the rank's MPI thread; after share(), whoever holds the lock.
class Engine final : public WaitWork, private ReceiveOwner, private SendOwner, private CopyOwner {
 public:
  struct Options {
    /// Up to so many bytes a message lies whole in the log; above, without a history, it follows after the
    /// match.
    std::size_t eager_bytes_max = qos::tuning_variable(qos::TuningId::eager_bytes_max).start;
    /// From so many bytes on a message goes from memory to memory where that is possible, without a history.
    std::size_t direct_bytes_min = qos::tuning_variable(qos::TuningId::direct_bytes_min).start;
    /// How much of a log to one rank may wait to be taken, without a history.
    std::uint64_t log_bytes_max = qos::tuning_variable(qos::TuningId::log_bytes_max).start;
    /// The size of the pieces in which it follows after the match.
    std::size_t bulk_piece_bytes = qos::tuning_variable(qos::TuningId::bulk_piece_bytes).start;
    /// What others have sent is taken in before each send.
    bool receives_before_send = false;
    /// How often a rank that waits looks before it yields; none: as its share of the cores makes it.
    std::optional<unsigned> spin_rounds;
    /// How often a rank that waits gives up its turn before it sleeps.
    unsigned yields_before_sleep = qos::tuning_variable(qos::TuningId::yields_before_sleep).start;
    /// Of this rank, opened early by an interposed function; null: opened here.
    replay::Determinants* determinants = nullptr;
    /// World::link(), borrowed; null: there is nothing else to carry forward.
    ProgressHook* hook = nullptr;
  };

  /// `world` and `clock` are borrowed. Errors: those of logs and of the journal.
  static Result<std::unique_ptr<Engine>> create(World& world, const Clock& clock, const Options& options);
  static Result<std::unique_ptr<Engine>> create(World& world, const Clock& clock) {
    return create(world, clock, Options{});
  }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Several threads will call, each holding the lock (MPI_THREAD_MULTIPLE), which is borrowed.
  SharedWaiting* share(LibraryLock& lock) { return waiting_.share(lock, *this); }

  World& world() { return world_; }
  /// For whoever waits for a while at most.
  const Clock& clock() const { return clock_; }
  replay::Determinants& determinants() { return determinants_; }
  RequestTable& requests() { return requests_; }
  Outgoing& outgoing() { return outgoing_; }
  Waiting& waiting() { return waiting_; }
  ReplayCourse& replay() { return replay_; }

  // Waiting

  /// Takes what has come on all streams and goes on with large and queued sends. True when something was
  /// done.
  bool progress() override { return progress_.go_on(); }
  /// For Waiting.
  void make_ready(unsigned looks) override {
    outgoing_.take_room_ahead();
    // What is kept takes new memory, and some microseconds have gone by without a message.
    if (upkeep_.keeps() && looks % Waiting::looks_before_preparing == Waiting::looks_before_preparing - 1)
      world_.prepare_ahead();
  }
  using Bulk = DirectCopies::Bulk;
  /// Returns when `done()` does: progresses meanwhile, spins briefly, then yields, then sleeps. Whoever makes
  /// it true must wake this rank.
  ///
  /// `done` may be called again after it was true, and must stay so. Under MPI_THREAD_MULTIPLE other threads
  /// are in the library meanwhile, and any of them may call it: what is held across a wait must stay right
  /// when they make calls.
  ///
  /// `awaits` says what that is, if anybody asks; null: nobody can tell. `bulk`: how copies of large messages
  /// go on meanwhile.
  template <typename Done>
  void wait_until(Done done, const Awaits* awaits = nullptr, Bulk bulk = Bulk::first) {
    if (done()) return;
    if (waiting_.is_shared()) [[unlikely]]
      return waiting_.wait_among_threads(std::ref(done));
    const NothingElse nothing_else(direct_, bulk);
    const Progress::InWait in_wait(progress_);
    waiting_.wait_until(*this, done, awaits);
  }
  /// wait_until() for what a predecessor was told: `what` is there, or the job ends as diverged.
  template <typename Done>
  void wait_for_recorded(const char* what, Done done) {
    replay_.set_awaited(what);
    wait_until(std::move(done));
    replay_.set_awaited(nullptr);
  }
  void wait_for_recorded(const char* what, Request& request) {
    if (request.complete) return;
    hold(request);
    wait_for_recorded(what, [&request] { return request.complete; });
  }
  /// Returns when the request is complete.
  void wait(Request& request) {
    if (request.complete) return;
    hold(request);
    if (!await_answer(request)) wait_long(request, bulk_beside(request));
  }
  /// How copies of large messages go on where this request is awaited.
  Bulk bulk_beside(const Request& request) const {
    const bool is_small = request.kind == Request::Kind::receive && !request.complete &&
                          request.buffer.bytes() <= options_.eager_bytes_max;
    return is_small ? Bulk::gives_way : Bulk::first;
  }
  /// wait() for the first of many: what comes for them may be left to come together first, for a moment.
  void wait_for_first(Request& request) {
    receiving_.set_gathering(!waiting_.is_shared() && waiting_.spin_rounds() > 0);
    if (!await_answer(request)) wait_long(request, Bulk::first);
    receiving_.set_gathering(false);
  }
  /// Keeps what a request on the stack refers to while the call waits: another thread may free it meanwhile.
  /// wait() does so itself.
  void hold(Request& request) {
    if (waiting_.is_shared() && !request.kept) [[unlikely]]
      request.hold_objects();
  }
  /// `hook` is called whenever the rank has waited in vain for a while, before it yields or sleeps: not
  /// often. What it borrows must outlive the Engine.
  void on_progress(std::function<void()> hook) { upkeep_.add_hook(std::move(hook)); }
  /// A call that found nothing is about to return: lets others have the processor when it keeps asking. False
  /// when there is still nothing.
  bool found_nothing();
  /// `describe` adds to each report of a wait.
  void on_report(std::function<void(waits::Report&)> describe) { describe_.push_back(std::move(describe)); }
  void found_something() { waiting_.forget_fruitless(); }
  /// Whether found_nothing() would find nothing, and has nobody to be let go first: for calls that ask again
  /// and again. Then it need not be called.
  bool is_nothing_new() {
    if (!has_nothing_else() || receiving_.holds() || waiting_.is_next_to_yield() || progress_.carry() ||
        !incoming_.polls_in_vain())
      return false;
    waiting_.count_fruitless();
    return true;
  }

  // Other ranks

  /// Messages from these ranks of the job, which may be new, are taken from now on.
  void meet(std::span<const int> ranks);
  /// The ranks of other worlds that have been met, and not parted from.
  std::vector<int> strangers() const { return incoming_.strangers(); }
  /// Forgets a rank that has ended, and that no group of this process names: its slot may become another's.
  /// False while histories are kept: then nothing is forgotten.
  bool part(int rank);
  /// Messages from whatever rank of the job are taken while this lives: of the ranks that have not been met
  /// before, the ones that have sent nothing are parted from at its end.
  class Listening {
   public:
    explicit Listening(Engine& engine) : engine_(engine) {}
    ~Listening() { engine_.incoming_.part_if_silent(strangers_); }
    Listening(const Listening&) = delete;
    Listening& operator=(const Listening&) = delete;
    /// Takes in those that have come since.
    void look_around();

   private:
    Engine& engine_;
    std::vector<int> strangers_;
    std::uint64_t seen_changes_ = ~std::uint64_t{0};
  };
  /// Whether no send or receive of the program in this communicator is on its way.
  bool is_quiet(const Communicator& communicator) const { return !requests_.any_active(communicator); }

  // Where the others go on without ranks that die (p2p/losses.hpp)

  Losses& losses() { return losses_; }
  /// Takes in which ranks are lost, and ends what waits in vain for them, or in a revoked communicator.
  void look_at_losses();
  /// Nobody may use this context any more: what waits in it ends, and `on_revoked` hears of it, once.
  void revoked(std::uint32_t context) override;
  void on_revoked(std::function<void(std::uint32_t context)> hook) { on_revoked_ = std::move(hook); }

  // A replay, and its end

  using Past = ReplayCourse::Past;
  void set_past(Past past) { replay_.set_past(std::move(past)); }
  /// ReplayCourse::follow()
  void follow(CallCounter& calls) { replay_.follow(calls); }
  bool may_tell_new() override { return replay_.may_tell_new(); }
  /// Whether recorded outcomes remain, so that a call must take the next one instead of deciding.
  bool replaying() const { return determinants_.replaying(); }
  bool repeats_calls() const { return replay_.repeats_calls(); }
  /// The next of them, for a call of this kind; only while replaying(). Ends the job when it is of another
  /// kind.
  replay::Outcome take_outcome(replay::CallKind kind);
  /// ReplayCourse::end_of_mpi_begins()
  void end_of_mpi_begins() { replay_.end_of_mpi_begins(); }
  /// MPI_Finalize, first half: every send begun has left, and a replay has repeated all but contributions to
  /// collectives, of which one follows (else the job ends as diverged). Progress goes on being needed until
  /// everybody is done.
  void finish();
  /// Behind the last collective: a replay has repeated all.
  void finish_replay() { replay_.finish(); }
  void finish_replay_at_checkpoint() { replay_.finish_at_checkpoint(); }
  std::string describe_rank() const { return mpi::describe_rank(world_); }
  void look_for_culprit() { replay_.look_for_culprit(); }
  [[noreturn]] void diverged(const std::string& difference) { replay_.diverged(difference); }

  // Checkpoints

  /// Messages that this rank has sent, and those that its receives have taken; no request may be active.
  struct Exchanged {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
  };
  Exchanged exchanged() const {
    return {outgoing_.sent_count(), incoming_.heard_count() - receiving_.unexpected_count()};
  }
  /// What follows lies in other logs, behind this checkpoint, which the determinants have passed; `past` gets
  /// those until now. No message may be under way, and no request active. `repeats`: predecessors have come
  /// as far; `follows`: what the rank does has been recorded (ReplayCourse).
  void pass_checkpoint(std::uint32_t number, bool repeats, bool follows,
                       std::vector<std::unique_ptr<PastLog>>& past);

  // Standbys (standby/standby.hpp)

  /// Whether a copy of the process made now could go on in the place of this one: nothing is under way.
  bool may_be_copied() const {
    return !requests_.any_active() && outgoing_.idle() && !replay_.is_on() && upkeep_.keeps() &&
           !waiting_.is_shared();
  }
  /// In the copy, whose determinants have taken over. Then follow(). Errors: those of Outgoing and Incoming.
  Status take_over() {
    if (auto taken = outgoing_.take_over(); !taken) return taken;
    if (auto taken = incoming_.take_over(); !taken) return taken;
    replay_.begin_again();
    return {};
  }

  // Communication. Ranks are those of the communicator; arguments have been checked; the peer is not
  // MPI_PROC_NULL.

  /// Completes when the buffer may be used again.
  /// Gives its error class: only where ranks may be lost there is one.
  int send(const Buffer& buffer, int destination, int tag, Communicator& communicator, SendMode mode);
  /// A standard send of a contiguous buffer that is over at return: the bytes are in the log. False when it
  /// has to be begun as a request. While histories are kept, that depends on the buffer alone.
  bool send_now(const Buffer& buffer, int destination, int tag, Communicator& communicator);
  /// The same for at most log::publish_fast_bytes_max, and only at once: false when send_now() has to
  /// look closer.
  bool send_small(std::span<const std::byte> payload, int destination, int tag, Communicator& communicator) {
    return outgoing_.send_small(payload, communicator.world_rank(destination), communicator.context(), tag);
  }
  /// The status is filled unless it is MPI_STATUS_IGNORE. MPI_ERR_TRUNCATE if the message was longer.
  int receive(const Buffer& buffer, int source, int tag, Communicator& communicator, MPI_Status* status);
  /// A receive of a contiguous buffer that waits a moment for its message, and takes it at once: without
  /// being posted, while nothing else is to be done. False: nothing has happened, and it is to be begun.
  /// (brief_receive.hpp)
  bool receive_briefly(std::span<std::byte> room, int source, int tag, const Communicator& communicator,
                       MPI_Status* status);
  /// Begins a request whose description is complete, also one with MPI_PROC_NULL.
  void start(Request& request);
  void start_send(Request& request);
  void start_receive(Request& request) { receiving_.start(request); }
  /// start_receive() after begin_receive().
  void start_plain_receive(Request& request) {
    if (replay_.is_on()) [[unlikely]]
      return receiving_.start(request);
    receiving_.start_plain(request);
  }
  /// Whether a receive in this context has only to be queued: then queue_receive() of one from
  /// requests().take_unused(), after begin_receive(), may follow.
  bool will_queue(std::uint32_t context) const {
    return !replay_.is_on() && requests_.has_unused() && receiving_.will_queue(context);
  }
  void queue_receive(Request& request) { receiving_.queue(request); }
  /// Begins the receive of what a matched probe took.
  void start_matched_receive(Request& request, Arrival& arrival) {
    receiving_.start_matched(request, arrival);
  }
  /// Progress::start_task(), add_persistent_task()
  Request& start_task(std::unique_ptr<Task> task) { return progress_.start_task(std::move(task)); }
  Request& add_persistent_task(std::unique_ptr<Task> task) {
    return progress_.add_persistent_task(std::move(task));
  }
  /// True when it has been taken back (receives that took no message).
  bool cancel(Request& request);
  static void receive_status(const Request& request, MPI_Status* status) {
    set_status(status, request.status_source, request.status_tag, request.status_bytes, request.cancelled);
  }

  /// The message that a receive would take: null when there is none now. What it finds stays.
  Arrival* probe(std::uint32_t context, int world_source, int tag) {
    return receiving_.probe(context, world_source, tag);
  }
  Arrival* find(std::uint32_t context, int world_source, std::uint64_t ordinal) {
    return receiving_.find(context, world_source, ordinal);
  }
  /// A replayed probe for any source has found this message.
  void probed(const Arrival& arrival) { receiving_.probed(arrival); }
  /// Takes a probed message out of the matching.
  void take(Arrival& arrival) { receiving_.take(arrival); }
  static int world_source(const Communicator& communicator, int source) {
    return mpi::world_source(communicator, source);
  }

  // What tools may ask and set while the program runs (MPI 3.1, 14.3.6).
  static constexpr unsigned spin_rounds_max = Waiting::spin_rounds_max;
  std::uint64_t eager_bytes_max() const { return options_.eager_bytes_max; }
  void set_eager_bytes_max(std::uint64_t bytes);
  std::uint64_t direct_bytes_min() const { return options_.direct_bytes_min; }
  void set_direct_bytes_min(std::uint64_t bytes);
  std::uint64_t spin_rounds() const { return waiting_.spin_rounds(); }
  void set_spin_rounds(std::uint64_t rounds) { waiting_.set_spin_rounds(static_cast<unsigned>(rounds)); }
  std::uint64_t yields_before_sleep() const { return waiting_.yields_before_sleep(); }
  void set_yields_before_sleep(std::uint64_t yields) {
    waiting_.set_yields_before_sleep(static_cast<unsigned>(yields));
  }
  std::uint64_t unexpected_count() const { return receiving_.unexpected_count(); }
  std::uint64_t posted_count() const { return receiving_.posted_count(); }

  /// What MPI_Buffer_attach gave.
  struct AttachedBuffer {
    void* memory = nullptr;
    int bytes = 0;
  };
  AttachedBuffer& attached_buffer() { return attached_buffer_; }
  /// For lists of indices that a call builds; to be given back, so that memory is kept. Two threads that do
  /// so at the same time have two.
  std::vector<std::uint32_t> take_index_list() {
    indices_.clear();
    return std::move(indices_);
  }
  void give_back(std::vector<std::uint32_t>&& list) { indices_ = std::move(list); }

 private:
  Engine(World& world, const Clock& clock, const Options& options,
         std::unique_ptr<replay::Determinants> own_determinants);

  // WaitWork
  bool waited_in_vain(const std::function<bool()>& done) override;
  void look_around() override;
  bool anything_new() override { return progress_.anything_new() || losses_.has_news(); }
  void report_wait(std::uint32_t survey, const Awaits* awaits, std::chrono::nanoseconds since) override;
  // ReceiveOwner, SendOwner
  void differs(const std::string& difference) override { replay_.diverged(difference); }
  void send_complete(Request& request) override { requests_.complete(request); }
  bool may_send_new() override { return replay_.may_send_new(); }
  std::uint64_t heard(int rank, std::uint32_t context) override { return incoming_.heard(rank, context); }
  void no_memory(const Error& error) override;
  // CopyOwner
  void received_directly(Request& request) override { receiving_.finish(request); }
  void sent_directly(Request& request) override { requests_.complete(request); }
  void grant_directly(int source, const DirectGrant& grant) override {
    outgoing_.grant_directly(source, grant);
  }

  /// Tells who copies that this rank has nothing else to do.
  class NothingElse {
   public:
    NothingElse(DirectCopies& direct, Bulk bulk) : direct_(direct) { direct_.set_bulk(bulk); }
    ~NothingElse() { direct_.set_bulk(Bulk::in_passing); }

   private:
    DirectCopies& direct_;
  };

  bool has_nothing_else() const {
    return !replay_.is_on() && !waiting_.is_shared() && !progress_.has_tasks() && outgoing_.idle() &&
           direct_.at_rest();
  }
  void look_at_protection();

  // Waiting for one message and nothing else (brief_receive.hpp).
  void wait_long(Request& request, Bulk bulk) {
    const AwaitsRequest awaits(request);
    wait_until([&request] { return request.complete; }, &awaits, bulk);
  }
  bool is_answer(int from, Stream& stream);
  bool await_answer(Request& request);
  void look_late(const Stream& stream);
  void spend_look(const Stream& stream, unsigned looks);

  World& world_;
  const Clock& clock_;
  Options options_;
  std::unique_ptr<replay::Determinants> own_determinants_;
  replay::Determinants& determinants_;
  RequestTable requests_;
  EarlyCopies early_;
  DirectCopies direct_;
  Outgoing outgoing_;
  Receiving receiving_;
  Incoming incoming_;
  Progress progress_;
  ReplayCourse replay_;
  Upkeep upkeep_;
  Waiting waiting_;
  Losses losses_;
  std::function<void(std::uint32_t context)> on_revoked_;
  AttachedBuffer attached_buffer_;
  std::vector<std::uint32_t> indices_;
  std::vector<std::function<void(waits::Report&)>> describe_;
};

}  // namespace llamada::mpi
