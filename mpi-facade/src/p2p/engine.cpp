#include "p2p/engine.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "p2p/brief_receive.hpp"

namespace llamada::mpi {
namespace {

bool keeps_histories(const World& world) { return world.protection().keeps_messages && world.is_protected(); }
bool begins_replay(const World& world) {
  return world.protection().compares_resends && world.incarnation() > 1;
}
bool has_resumed(const World& world) { return world.protection().records_outcomes && world.is_resumed(); }

Outgoing::Options outgoing_options(const World& world, const Engine::Options& options, bool compares) {
  Outgoing::Options outgoing;
  outgoing.limits.eager_bytes_max = options.eager_bytes_max;
  outgoing.limits.memory_bytes_min = options.direct_bytes_min;
  outgoing.log_bytes_max = options.log_bytes_max;
  outgoing.bulk_piece_bytes = options.bulk_piece_bytes;
  outgoing.bounds = SendBounds::of(world.profile().datawriter_qos);
  if (world.survivors_go_on()) {
    // Nothing of a message is then left to be done when its sender or its receiver has died.
    outgoing.limits.eager_bytes_max = outgoing.limits.memory_bytes_min =
        std::numeric_limits<std::size_t>::max();
  }
  outgoing.has_short_way = !outgoing.bounds.any() && !options.receives_before_send;
  outgoing.keeps = keeps_histories(world);
  outgoing.compares = compares;
  return outgoing;
}

/// The part is as if it had just been made. Whoever refers to it refers to the new one.
template <typename Part, typename... Arguments>
void make_anew(Part& part, Arguments&&... arguments) {
  std::destroy_at(&part);
  std::construct_at(&part, std::forward<Arguments>(arguments)...);
}

}  // namespace

Engine::Engine(World& world, const Clock& clock, const Options& options,
               std::unique_ptr<replay::Determinants> own_determinants)
    : world_(world),
      clock_(clock),
      options_(options),
      own_determinants_(std::move(own_determinants)),
      determinants_(options.determinants ? *options.determinants : *own_determinants_),
      direct_(world, *this),
      outgoing_(world, *this, direct_, outgoing_options(world, options, begins_replay(world))),
      receiving_(
          {world, determinants_, requests_, outgoing_, direct_, early_, *this, keeps_histories(world)}),
      incoming_(world, receiving_, SendBounds::of(world.profile().datawriter_qos).told_after()),
      progress_({incoming_, outgoing_, direct_, receiving_, requests_, options.hook}),
      replay_({world, determinants_, incoming_, outgoing_, receiving_, progress_, begins_replay(world),
               has_resumed(world)}),
      upkeep_(world, clock, incoming_, keeps_histories(world)),
      waiting_(world, clock, options.yields_before_sleep),
      losses_(world) {
  if (!upkeep_.keeps()) incoming_.release_consumed();
  if (options.spin_rounds) waiting_.set_spin_rounds(*options.spin_rounds);
  // The first reading makes libc take memory from the program's heap: here, where a replay does the same.
  (void)clock_.monotonic();
}

Result<std::unique_ptr<Engine>> Engine::create(World& world, const Clock& clock, const Options& options) {
  std::unique_ptr<replay::Determinants> own_determinants;
  if (!options.determinants) {
    auto opened = replay::Determinants::open(world);
    if (!opened) return propagate(opened);
    own_determinants = std::move(*opened);
  }
  return std::unique_ptr<Engine>(new Engine(world, clock, options, std::move(own_determinants)));
}

void Engine::pass_checkpoint(std::uint32_t number, bool repeats, bool follows,
                             std::vector<std::unique_ptr<PastLog>>& past) {
  outgoing_.leave_logs(past);
  world_.pass_checkpoint(number);
  ReplayCourse::Past past_of_others = replay_.take_past();
  const bool keeps = upkeep_.keeps();
  make_anew(outgoing_, world_, static_cast<SendOwner&>(*this), direct_,
            outgoing_options(world_, options_, repeats));
  make_anew(receiving_, Receiving::Parts{world_, determinants_, requests_, outgoing_, direct_, early_,
                                         static_cast<ReceiveOwner&>(*this), keeps});
  make_anew(incoming_, world_, static_cast<MessageSink&>(receiving_),
            SendBounds::of(world_.profile().datawriter_qos).told_after());
  make_anew(replay_, ReplayCourse::Parts{world_, determinants_, incoming_, outgoing_, receiving_, progress_,
                                         repeats, follows});
  replay_.set_past(std::move(past_of_others));
  if (!keeps) incoming_.release_consumed();
}

void Engine::meet(std::span<const int> ranks) {
  if (ranks.empty()) return;
  receiving_.grow(*std::max_element(ranks.begin(), ranks.end()) + 1);
  for (const int rank : ranks) incoming_.meet(rank);
}

void Engine::Listening::look_around() {
  World& world = engine_.world_;
  if (std::exchange(seen_changes_, world.roster_changes()) == world.roster_changes()) return;
  for (int rank = 0; rank < world.size(); ++rank) {
    if (engine_.incoming_.has_met(rank) || world.has_ended(rank)) continue;
    strangers_.push_back(rank);
    engine_.meet(std::span(&rank, 1));
  }
}

bool Engine::part(int rank) {
  look_at_protection();
  if (upkeep_.keeps() || replay_.is_on()) return false;
  receiving_.part(rank);
  incoming_.part(rank);
  outgoing_.part(rank);
  direct_.part(rank);
  return true;
}

bool Engine::waited_in_vain(const std::function<bool()>& done) {
  if (replay_.repeats() && replay_.waits_in_vain(done)) return true;
  receiving_.gather_no_longer();
  return false;
}

void Engine::look_at_losses() {
  if (!losses_.is_on()) return;
  for (const int rank : losses_.look()) {
    incoming_.lose(rank);  // what it had sent before is received yet
    receiving_.lose(rank);
    outgoing_.lose(rank);
  }
  if (losses_.any()) receiving_.end_those_in_vain(losses_);
}

void Engine::revoked(std::uint32_t context) {
  if (!losses_.is_on() || !losses_.revoke(context)) return;
  outgoing_.end_sends(context);
  if (on_revoked_) on_revoked_(context);
}

void Engine::look_around() {
  look_at_losses();
  upkeep_.look_around();
  look_at_protection();
}

void Engine::no_memory(const Error& error) {
  upkeep_.no_memory(error);
  look_at_protection();
}

/// What was kept for a replacement is reused when the job is no longer protected.
void Engine::look_at_protection() {
  if (!upkeep_.ends_keeping()) return;
  receiving_.keep_no_longer();
  incoming_.release_consumed();
  outgoing_.keep_no_longer();
  determinants_.stop_recording();
}

bool Engine::found_nothing() {
  const bool time_to_yield = waiting_.count_fruitless();
  // A replay only counts such calls down, and is in a hurry.
  if (replaying() && !time_to_yield) return false;
  const bool went_on = progress();
  if (!time_to_yield || replaying()) return went_on;
  look_around();
  waiting_.let_others_run();
  return true;
}

replay::Outcome Engine::take_outcome(replay::CallKind kind) {
  auto outcome = determinants_.replayer().take(kind);
  if (!outcome) diverged(outcome.error().text());
  LLAMADA_CRASH_POINT("replay:outcome-taken");
  receiving_.outcome_taken();
  return std::move(*outcome);
}

void Engine::finish() {
  replay_.reach_end();
  wait_until([&] { return outgoing_.idle() && direct_.idle(); });
}

// Communication

bool Engine::send_now(const Buffer& buffer, int destination, int tag, Communicator& communicator) {
  if (options_.receives_before_send) progress();
  return buffer.type->is_contiguous() &&
         outgoing_.send_now(buffer, communicator.world_rank(destination), communicator.context(), tag);
}

int Engine::send(const Buffer& buffer, int destination, int tag, Communicator& communicator, SendMode mode) {
  if (mode != SendMode::synchronous && mode != SendMode::buffered &&
      send_now(buffer, destination, tag, communicator))
    return MPI_SUCCESS;
  Request request;
  request.kind = Request::Kind::send;
  request.mode = mode;
  request.buffer = buffer;
  request.communicator = &communicator;
  request.tag = tag;
  request.peer = destination;
  start_send(request);
  wait(request);
  return request.error;
}

int Engine::receive(const Buffer& buffer, int source, int tag, Communicator& communicator,
                    MPI_Status* status) {
  Request request;
  request.kind = Request::Kind::receive;
  request.buffer = buffer;
  request.communicator = &communicator;
  request.peer = source;
  request.tag = tag;
  start_receive(request);
  wait(request);
  receive_status(request, status);
  return request.error;
}

void Engine::start(Request& request) {
  if (request.null_process) {
    request.begin();
    request.complete = true;
  } else if (request.kind == Request::Kind::task) {
    request.kept->task->start();
    progress_.begin_task(request);
  } else if (request.kind == Request::Kind::send) {
    start_send(request);
  } else {
    start_receive(request);
  }
}

void Engine::start_send(Request& request) {
  // A task's send is begun by progress() itself.
  if (options_.receives_before_send && !progress_.is_stepping()) progress();
  request.begin();
  request.context = request.communicator->context();
  request.destination = request.communicator->world_rank(request.peer);
  if (losses_.any()) [[unlikely]]
    request.error = losses_.is_revoked(request.context)    ? MPIX_ERR_REVOKED
                    : losses_.is_lost(request.destination) ? MPIX_ERR_PROC_FAILED
                                                           : MPI_SUCCESS;
  if (request.error != MPI_SUCCESS) [[unlikely]]
    return requests_.complete(request);
  if (request.mode != SendMode::buffered) return outgoing_.send(request);
  // A copy of our own goes: whether the buffer that the program attached has room never depends on when
  // others take it.
  Request& copy = requests_.add_without_handle();
  copy.kind = Request::Kind::send;
  copy.mode = SendMode::buffered;
  copy.context = request.context;
  copy.tag = request.tag;
  copy.destination = request.destination;
  copy.keep().message.resize(request.buffer.bytes());
  request.buffer.pack(0, copy.kept->message);
  copy.released = true;
  outgoing_.send(copy);
  requests_.complete(request);
}

bool Engine::cancel(Request& request) {
  if (request.kind != Request::Kind::receive || request.null_process || request.matched_by_probe)
    return false;
  if (!replaying()) progress();
  static_cast<void>(request.go_on_if_pending());
  return receiving_.cancel(request);
}

/// Waits a moment for what a receive is to take, where that may be an answer and nothing else is to be done.
/// Whether the receive is complete.
bool Engine::await_answer(Request& request) {
  if (request.kind != Request::Kind::receive || request.null_process || !has_nothing_else()) return false;
  int from = request.source;
  Stream* const stream = incoming_.one_stream(from);
  if (!stream || stream->last_bytes > posted_answer_bytes_max || waiting_.is_turn_of_others()) return false;
  if (!is_answer(from, *stream)) return false;
  look_late(*stream);
  const unsigned looks_max = waiting_.brief_looks_max();
  for (unsigned looks = 0; looks < looks_max && !stream->reader.is_announced(); ++looks) {
    if (stream->reader.ready()) {
      const bool taken = progress_.go_on_with(from, *stream);
      if (taken && request.complete) {
        stream->first_look.found_after(looks);
        return true;
      }
      if (!direct_.at_rest()) return false;
    }
    spend_look(*stream, looks);
  }
  return false;
}

void Engine::set_eager_bytes_max(std::uint64_t bytes) {
  if (losses_.is_on()) return;  // all messages go whole into the log
  options_.eager_bytes_max = static_cast<std::size_t>(bytes);
  outgoing_.set_eager_bytes_max(options_.eager_bytes_max);
}

void Engine::set_direct_bytes_min(std::uint64_t bytes) {
  if (losses_.is_on()) return;
  options_.direct_bytes_min = static_cast<std::size_t>(bytes);
  outgoing_.set_direct_bytes_min(options_.direct_bytes_min);
}

}  // namespace llamada::mpi
