#pragma once

#include <sched.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "llamada/base/clock.hpp"
#include "llamada/base/pause.hpp"
#include "object/status.hpp"
#include "p2p/direct_copies.hpp"
#include "p2p/early_copies.hpp"
#include "p2p/incoming.hpp"
#include "p2p/matcher.hpp"
#include "p2p/outgoing.hpp"
#include "p2p/own_core.hpp"
#include "p2p/request.hpp"
#include "p2p/shared_payloads.hpp"
#include "replay/determinants.hpp"
#include "threads/shared_waiting.hpp"
#include "threads/yielding.hpp"
#include "world/world.hpp"

namespace llamada::mpi {

class CallCounter;

/// Point-to-point communication of one rank: what the C functions call, and what makes progress whenever the
/// rank waits.
///
/// Threads: the rank's MPI thread; after share(), whoever holds the lock.
class Engine final : private MessageSink, private SendOwner, private CopyOwner {
 public:
  struct Options {
    /// Up to so many bytes a message lies whole in the log; above, without a history, it follows after the
    /// match.
    std::size_t eager_bytes_max = 64 * 1024;
    /// From so many bytes on a message goes from memory to memory where that is possible, without a history.
    std::size_t direct_bytes_min = 64 * 1024;
    /// How much of a log to one rank may wait to be taken, without a history.
    std::uint64_t log_bytes_max = 512 * 1024;
    /// How often a rank that waits gives up its turn before it sleeps.
    unsigned yields_before_sleep = 1000;
    /// Of this rank, opened early by an interposed function; null: opened here.
    replay::Determinants* determinants = nullptr;
  };

  /// `world` and `clock` are borrowed. Errors: those of logs and of the journal.
  static Result<std::unique_ptr<Engine>> create(World& world, const Clock& clock, Options options);
  static Result<std::unique_ptr<Engine>> create(World& world, const Clock& clock) {
    return create(world, clock, Options{});
  }
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Several threads will call, each holding the lock (MPI_THREAD_MULTIPLE), which is borrowed.
  SharedWaiting* share(LibraryLock& lock);

  World& world() { return world_; }
  /// For whoever waits for a while at most.
  const Clock& clock() const { return clock_; }
  replay::Determinants& determinants() { return *determinants_; }

  /// Takes what has come on all streams and goes on with large and queued sends. True when something was
  /// done.
  bool progress();

  /// Returns when `done()` does: progresses meanwhile, spins briefly, then yields, then sleeps. Whoever makes
  /// it true must wake this rank.
  ///
  /// `done` may be called again after it was true, and must stay so. Under MPI_THREAD_MULTIPLE other threads
  /// are in the library meanwhile, and any of them may call it: what is held across a wait must stay right
  /// when they make calls.
  template <typename Done>
  void wait_until(Done done) {
    if (done()) return;
    if (shared_) [[unlikely]]
      return shared_->wait_until(std::ref(done));
    const Waiting waiting(*direct_);
    for (unsigned rounds = 0;; ++rounds) {
      const bool went_on = progress();
      if (went_on) rounds = 0;
      if (done()) return;
      if (rounds < spin_rounds_) {
        if (rounds >= unpaused_rounds_max) pause_processor();
        make_ready(rounds);
      } else if (!went_on) {
        wait_slowly(rounds - spin_rounds_, [&] { return done(); });
      }
    }
  }

  /// Messages from these ranks of the job, which may be new, are taken from now on.
  void meet(std::span<const int> ranks);
  /// The ranks of other worlds that have been met, and not parted from.
  std::vector<int> strangers() const { return incoming_->strangers(); }
  /// Forgets a rank that has ended, and that no group of this process names: its slot may become another's.
  /// False while histories are kept: then nothing is forgotten.
  bool part(int rank);
  /// Messages from whatever rank of the job are taken while this lives: of the ranks that have not been met
  /// before, the ones that have sent nothing are parted from at its end.
  class Listening {
   public:
    explicit Listening(Engine& engine) : engine_(engine) {}
    ~Listening() { engine_.incoming_->part_if_silent(strangers_); }
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

  /// `hook` is called whenever the rank has waited in vain for a while, before it yields or sleeps: not
  /// often. What it borrows must outlive the Engine.
  void on_progress(std::function<void()> hook) { hooks_.push_back(std::move(hook)); }
  /// Called again and again while a call waits for others.
  void on_wait(void (*hook)()) { wait_hook_ = hook; }

  /// MPI_Finalize, first half: every send begun has left, and a replay has repeated all but contributions to
  /// collectives, of which one follows (else the job ends as diverged). Progress goes on being needed until
  /// everybody is done.
  void finish();
  /// Behind the last collective: a replay has repeated all.
  void finish_replay();

  // A replay (engine_replay.cpp).

  /// What else a predecessor did that others may have noticed: each function gives the first thing that has
  /// not been repeated, in words, or nothing. What they borrow must outlive the Engine.
  struct Past {
    std::function<std::string()> contributions;  ///< to collectives
    std::function<std::string()> operations;     ///< on files
    std::function<void()> look_for_damage;       ///< Collectives::look_for_damage()
  };
  void set_past(Past past) { past_ = std::move(past); }
  /// Goes along with the program's calls, which `calls` counts, from the first one on: a predecessor had
  /// begun as many as World::identity() says in a line "calls=N".
  void follow(CallCounter& calls);
  /// Whether a replay has come so far that it may tell others something new that need not come at once, as
  /// what was received, or a contribution to a collective.
  bool may_tell_new() override;
  /// wait_until() for what a predecessor was told: `what` is there, or the job ends as diverged.
  template <typename Done>
  void wait_for_recorded(const char* what, Done done) {
    awaited_ = what;
    wait_until(std::move(done));
    awaited_ = nullptr;
  }
  void wait_for_recorded(const char* what, Request& request) {
    if (request.complete) return;
    hold(request);
    wait_for_recorded(what, [&request] { return request.complete; });
  }

  /// "rank 2 (incarnation 2), MPI_Send call 512": where the rank is.
  std::string describe_rank() const;
  /// Of a replay that is about to end as diverged: that may be the fault of another rank whose wild pointer
  /// has written over what it had sent. Then this names that rank and ends the job.
  void look_for_culprit();
  /// Ends the job: the text of `difference` with the rank and call before it and the likely causes behind it.
  [[noreturn]] void diverged(const std::string& difference);

  // Communication. Ranks are those of the communicator; arguments have been checked; the peer is not
  // MPI_PROC_NULL.

  /// Completes when the buffer may be used again.
  void send(const Buffer& buffer, int destination, int tag, Communicator& communicator, SendMode mode);
  /// A standard send of a contiguous buffer that is over at return: the bytes are in the log. False when it
  /// has to be begun as a request. While histories are kept, that depends on the buffer alone.
  bool send_now(const Buffer& buffer, int destination, int tag, Communicator& communicator);
  /// The same for at most log::publish_fast_bytes_max, and only at once: false when send_now() has to
  /// look closer.
  bool send_small(std::span<const std::byte> payload, int destination, int tag, Communicator& communicator) {
    return outgoing_->send_small(payload, communicator.world_rank(destination), communicator.context(), tag);
  }
  Outgoing& outgoing() { return *outgoing_; }
  /// The status is filled unless it is MPI_STATUS_IGNORE. MPI_ERR_TRUNCATE if the message was longer.
  int receive(const Buffer& buffer, int source, int tag, Communicator& communicator, MPI_Status* status);
  /// Begins a request whose description is complete, also one with MPI_PROC_NULL.
  void start(Request& request);
  /// Keeps what a request on the stack refers to while the call waits: another thread may free it meanwhile.
  /// wait() does so itself.
  void hold(Request& request) {
    if (shared_ && !request.kept) [[unlikely]]
      hold_objects(request);
  }
  void start_send(Request& request);
  void start_receive(Request& request);
  /// start_receive() after begin_receive().
  void start_plain_receive(Request& request) {
    if (replaying_) [[unlikely]]
      return start_receive(request);
    address(request);
    if (MessageNode* message = matcher_.post_free(request)) deliver(request, static_cast<Arrival&>(*message));
  }
  /// Whether a receive in this context has only to be queued: then queue_receive() of one from
  /// requests().take_unused(), after begin_receive(), may follow.
  bool will_queue(std::uint32_t context) const {
    return !replaying_ && requests_.has_unused() && matcher_.will_queue(context);
  }
  void queue_receive(Request& request) {
    address(request);
    matcher_.post_queued(request);
  }
  /// Begins the receive of what a matched probe took.
  void start_matched_receive(Request& request, Arrival& arrival);
  void wait(Request& request);
  /// A receive of a contiguous buffer that waits a moment for its message, and takes it at once: without
  /// being posted, while nothing else is to be done. False: nothing has happened, and it is to be begun.
  /// (brief_receive.hpp)
  bool receive_briefly(std::span<std::byte> room, int source, int tag, const Communicator& communicator,
                       MPI_Status* status);
  /// wait() for the first of many: what comes for them may be left to come together first, for a moment.
  void wait_for_first(Request& request) {
    gathers_ = !shared_ && spin_rounds_ > 0;
    if (!await_answer(request)) wait_until([&request] { return request.complete; });
    gathers_ = false;
  }

  /// Begins a task: gives it a handle, steps it once now and then from progress, until it is complete.
  Request& start_task(std::unique_ptr<Task> task);
  /// An inactive persistent request, which start() begins.
  Request& add_persistent_task(std::unique_ptr<Task> task);
  /// True when it has been taken back (receives that took no message).
  bool cancel(Request& request);

  /// The message that a receive would take: null when there is none now. What it finds stays.
  Arrival* probe(std::uint32_t context, int world_source, int tag);
  Arrival* find(std::uint32_t context, int world_source, std::uint64_t ordinal);
  /// A replayed probe for any source has found this message.
  void probed(const Arrival& arrival) { matcher_.probed(arrival.context, arrival.source); }
  /// Takes a probed message out of the matching.
  void take(Arrival& arrival) { matcher_.take(arrival); }
  /// The rank of MPI_COMM_WORLD for a source in a communicator (any_source stays).
  static int world_source(const Communicator& communicator, int source) {
    return source == MPI_ANY_SOURCE ? any_source : communicator.world_rank(source);
  }

  // What tools may ask and set (MPI 3.1, 14.3). How often a rank that waits looks before it yields, by
  // default:
  static constexpr unsigned spin_rounds_max = 2000;
  static constexpr unsigned looks_before_preparing = 32;
  /// So many looks come without a pause between: what comes that soon is seen a tenth of its time earlier.
  static constexpr unsigned unpaused_rounds_max = 200;
  std::uint64_t eager_bytes_max() const { return options_.eager_bytes_max; }
  void set_eager_bytes_max(std::uint64_t bytes);
  std::uint64_t direct_bytes_min() const { return options_.direct_bytes_min; }
  void set_direct_bytes_min(std::uint64_t bytes);
  std::uint64_t spin_rounds() const { return spin_rounds_; }
  void set_spin_rounds(std::uint64_t rounds);
  std::uint64_t yields_before_sleep() const { return options_.yields_before_sleep; }
  void set_yields_before_sleep(std::uint64_t yields);
  std::uint64_t unexpected_count() const { return matcher_.unexpected_count(); }
  std::uint64_t posted_count() const { return matcher_.posted_count(); }

  RequestTable& requests() { return requests_; }
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

  /// Whether recorded outcomes remain, so that a call must take the next one instead of deciding.
  bool replaying() const { return determinants_->replaying(); }
  /// A replacement that has not yet begun the last MPI call of its predecessors. A signal's handler may ask.
  bool repeats_calls() const { return repeats_ && !in_last_call_; }
  /// The next of them, for a call of this kind; only while replaying(). Ends the job when it is of another
  /// kind.
  replay::Outcome take_outcome(replay::CallKind kind);
  /// After an outcome was taken: when it was the last, wildcard receives that were held go live.
  void outcome_taken();
  /// A call that found nothing is about to return: lets others have the processor when it keeps asking. False
  /// when there is still nothing.
  bool found_nothing();
  void found_something() { fruitless_calls_ = 0; }
  /// Whether found_nothing() would find nothing, and has nobody to be let go first: for calls that ask again
  /// and again. Then it need not be called.
  bool is_nothing_new() {
    if (!has_nothing_else() || holds_ || (fruitless_calls_ + 1) % fruitless_calls_before_yield == 0 ||
        !incoming_->polls_in_vain())
      return false;
    ++fruitless_calls_;
    return true;
  }
  static void receive_status(const Request& request, MPI_Status* status) {
    set_status(status, request.status_source, request.status_tag, request.status_bytes, request.cancelled);
  }

 private:
  Engine(World& world, const Clock& clock, Options options);
  Status open_parts();

  // MessageSink
  int take_awaited(int from, Stream& stream, int at_most) override;
  bool message_announced(int from, const log::LogReader& reader) override;
  void message_arrived(const IncomingMessage& message) override;
  void acknowledged(int from, std::uint32_t context, std::uint64_t ordinal) override;
  void granted(int from, const Grant& grant) override;
  void granted_directly(int from, const DirectGrant& grant) override;
  void bulk_arrived(int from, std::span<const std::byte> piece) override;
  // SendOwner
  void send_complete(Request& request) override;
  bool may_send_new() override;
  std::uint64_t heard(int rank, std::uint32_t context) override { return incoming_->heard(rank, context); }
  void differs(const std::string& difference) override { diverged(difference); }
  void look_for_damage();
  void no_memory(const Error& error) override;
  // CopyOwner
  void received_directly(Request& request) override { finish_receive(request); }
  void sent_directly(Request& request) override { complete(request); }
  void grant_directly(int source, const DirectGrant& grant) override;

  class SharedWork;
  /// Tells who copies that this rank has nothing else to do.
  class Waiting {
   public:
    explicit Waiting(DirectCopies& direct) : direct_(direct) { direct_.set_waiting(true); }
    ~Waiting() { direct_.set_waiting(false); }

   private:
    DirectCopies& direct_;
  };

  void wait_slowly(unsigned rounds, const std::function<bool()>& done);
  void look_around();
  /// What a rank that is about to sleep asks: whether there is more for it to do. Only progress() in vain
  /// says that what was there before is done. What waited for room has been tried again.
  bool anything_new();
  void restrict(Request& request, std::uint64_t post_index);
  /// Takes all that has come, and does all that follows from it. True when there was something.
  bool drain();
  /// A wait during a replay that has found nothing so far: true when there is something after all. Else no
  /// predecessor has come further than this: the replay is over, or has diverged.
  bool waits_in_vain(const std::function<bool()>& done);
  std::string left_over(bool with_contributions = true);
  /// The rank does what no predecessor has done, which `here` says.
  void end_replay(std::string_view here, bool with_contributions = true);
  void begin_last_call();
  void end_last_call();
  void tell_over();
  void look_at_protection();
  void keep_no_longer();
  void go_live();
  void deliver(Request& request, const IncomingMessage& message);
  void deliver(Request& request, Arrival& arrival);
  bool is_to_gather(const log::LogReader& reader, const NodeList<ReceiveNode>& posted);
  [[gnu::noinline]] void take_apart(Request& request, std::span<const std::byte> payload, std::size_t early);
  void patch(Request& request, int from, std::size_t bytes, std::span<const std::byte> patch);
  int take_run(int from, Stream& stream, int at_most);
  bool has_nothing_else() const {
    return !replaying_ && !shared_ && tasks_.empty() && outgoing_->idle() && direct_->at_rest();
  }

  /// Between looks in vain, of which this is number `looks`: room and memory for the next messages.
  void make_ready(unsigned looks) {
    outgoing_->take_room_ahead();
    // What is kept takes new memory, and some microseconds have gone by without a message.
    if (keeps_ && looks % looks_before_preparing == looks_before_preparing - 1) world_.prepare_ahead();
  }

  // Waiting for one message and nothing else: a look is short, and there are so many of them.
  static constexpr unsigned brief_looks_max = 400;
  /// So often in a row other streams are left alone.
  static constexpr unsigned brief_receives_in_a_row = 64;
  /// A program that asks again and again lets others run each so many times.
  static constexpr std::uint64_t fruitless_calls_before_yield = 32;
  static constexpr std::size_t answer_bytes_max = 4095;
  /// The same where the receive is posted already. Two that exchange more than that are quicker without,
  /// where their cores have no cache in common.
  static constexpr std::size_t posted_answer_bytes_max = 1024;
  static constexpr unsigned lines_expected_of_answer = 16;
  static constexpr int room_taken_for_answer = 4;
  bool is_turn_of_others() { return ++brief_receives_ % brief_receives_in_a_row == 0; }
  bool is_answer(int from, Stream& stream);
  bool await_answer(Request& request);
  /// Before the first look for an answer.
  void look_late(const Stream& stream) {
    stream.first_look.wait();
    stream.reader.expect(lines_expected_of_answer);
    // Not before: who reads what was sent may fetch the lines behind it, too, and would take these away
    // again.
    for (int i = 0; i < room_taken_for_answer; ++i) outgoing_->take_room_ahead();
  }
  /// After a look in vain.
  void spend_look(const Stream& stream, unsigned looks) {
    stream.reader.expect();
    make_ready(looks);
  }

  void count_received(int messages, std::uint64_t bytes) {
    arena_.count(log::Counter::messages_received, static_cast<std::uint64_t>(messages),
                 log::Counter::bytes_received, bytes);
  }
  static void address(Request& request) {
    request.context = request.communicator->context();
    request.source = world_source(*request.communicator, request.peer);
  }
  void matched(Request& request, const Envelope& message, std::size_t bytes, bool synchronous);
  void grant(Request& request, int source, const Announcement& announcement);
  void finish_receive(Request& request);
  static void begin(Request& request);
  static void hold_objects(Request& request);
  void complete(Request& request);
  Request& add_task(std::unique_ptr<Task> task);
  void begin_task(Request& request);
  bool step_tasks();
  Arrival& new_arrival();
  void keep_payload(Arrival& arrival, const IncomingMessage& message);
  void recycle(Arrival& arrival);

  World& world_;
  const Clock& clock_;
  log::ArenaWriter& arena_;
  Options options_;
  std::unique_ptr<replay::Determinants> own_determinants_;
  replay::Determinants* determinants_ = nullptr;
  Matcher matcher_;
  std::unique_ptr<Incoming> incoming_;
  std::unique_ptr<DirectCopies> direct_;
  EarlyCopies early_;
  SharedPayloads shared_payloads_;
  std::unique_ptr<Outgoing> outgoing_;
  RequestTable requests_;
  std::vector<Request*> tasks_;  // active ones, in the order in which they were begun
  std::vector<std::function<void()>> hooks_;
  void (*wait_hook_)() = [] {};
  std::unique_ptr<SharedWaiting::Work> shared_work_;
  std::unique_ptr<SharedWaiting> shared_;  // several threads call MPI
  std::vector<std::unique_ptr<Arrival>> arrivals_;
  Arrival* free_arrivals_ = nullptr;
  std::vector<std::deque<Request*>> granted_;  // by source: receives whose bulk is to come, in order
  AttachedBuffer attached_buffer_;
  std::vector<std::uint32_t> indices_;
  std::uint64_t fruitless_calls_ = 0;
  unsigned brief_receives_ = 0;
  unsigned spin_rounds_ = 0;
  int cores_ = 1;  // on which this rank may run
  Yielding yielding_;
  OwnCore own_core_;
  bool gathers_ = false;       // in wait_for_first()
  std::uint8_t gathered_ = 1;  // so many messages may be left to gather,
  int looks_left_ = 0;         // so often
  bool keeps_ = false;         // histories are kept
  bool replaying_ = false;     // a replacement that is not yet live
  bool holds_ = false;         // wildcard receives wait for the end of the outcomes
  // Of a replacement:
  bool repeats_ = false;               // nothing has shown yet that no predecessor came further
  bool draining_ = false;              // in drain()
  bool in_last_call_ = false;          // no predecessor began another call
  std::uint64_t last_call_ = 0;        // its number
  std::uint64_t awaited_matches_ = 0;  // receives whose match is known and has not come
  const char* awaited_ = nullptr;      // what a predecessor was told, and this wait is for
  const CallCounter* calls_ = nullptr;
  Past past_;
  bool used_up_ = false;   // the world has been told
  bool stepping_ = false;  // the tasks
  std::chrono::nanoseconds no_memory_since_{0};
  std::chrono::nanoseconds next_damage_look_{0};
};

}  // namespace llamada::mpi
