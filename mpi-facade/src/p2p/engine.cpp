#include "p2p/engine.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "llamada/base/copy.hpp"
#include "llamada/base/crash_point.hpp"
#include "runtime/runtime.hpp"
#include "world/cores.hpp"

namespace llamada::mpi {
namespace {

/// How long a rank whose memory is full, and whose histories are not kept, waits for others to take what they
/// have.
constexpr std::chrono::seconds no_memory_patience{30};
constexpr std::chrono::milliseconds between_damage_looks{250};

}  // namespace

Engine::Engine(World& world, const Clock& clock, Options options)
    : world_(world),
      clock_(clock),
      arena_(world.arena()),
      options_(std::move(options)),
      matcher_(world.size()),
      early_(world),
      yielding_(clock),
      own_core_(world, clock) {
  granted_.resize(static_cast<std::size_t>(world.size()));
  // Without a core of its own a rank that spins keeps others from what it waits for.
  spin_rounds_ = world.oversubscribed() ? 0 : spin_rounds_max;
  cores_ = cores_allowed();
  // The first reading makes libc take memory from the program's heap: here, where a replay does the same.
  (void)clock_.monotonic();
}

Result<std::unique_ptr<Engine>> Engine::create(World& world, const Clock& clock, Options options) {
  std::unique_ptr<Engine> engine(new Engine(world, clock, std::move(options)));
  Status status = engine->open_parts();
  if (!status) return propagate(status);
  return engine;
}

Status Engine::open_parts() {
  determinants_ = options_.determinants;
  if (!determinants_) {
    auto opened = replay::Determinants::open(world_);
    if (!opened) return propagate(opened);
    own_determinants_ = std::move(*opened);
    determinants_ = own_determinants_.get();
  }
  const bool rebuilds = world_.profile().rank_replacement.kind == qos::RankReplacementKind::rebuild;
  keeps_ = rebuilds && world_.is_protected();
  replaying_ = repeats_ = rebuilds && world_.incarnation() > 1;
  MessageSink& sink = *this;
  SendOwner& owner = *this;
  incoming_ = std::make_unique<Incoming>(world_, sink);
  Outgoing::Options outgoing;
  outgoing.eager_bytes_max = options_.eager_bytes_max;
  outgoing.direct_bytes_min = options_.direct_bytes_min;
  outgoing.log_bytes_max = options_.log_bytes_max;
  outgoing.keeps = keeps_;
  outgoing.compares = replaying_;
  CopyOwner& copies = *this;
  direct_ = std::make_unique<DirectCopies>(world_, copies);
  outgoing_ = std::make_unique<Outgoing>(world_, owner, *direct_, early_, outgoing);
  if (!keeps_) incoming_->release_consumed();
  return {};
}

void Engine::meet(std::span<const int> ranks) {
  if (ranks.empty()) return;
  const int count = *std::max_element(ranks.begin(), ranks.end()) + 1;
  matcher_.grow(count);
  if (granted_.size() < static_cast<std::size_t>(count)) granted_.resize(static_cast<std::size_t>(count));
  for (const int rank : ranks) incoming_->meet(rank);
}

void Engine::Listening::look_around() {
  World& world = engine_.world_;
  if (std::exchange(seen_changes_, world.roster_changes()) == world.roster_changes()) return;
  for (int rank = 0; rank < world.size(); ++rank) {
    if (engine_.incoming_->has_met(rank) || world.has_ended(rank)) continue;
    strangers_.push_back(rank);
    engine_.meet(std::span(&rank, 1));
  }
}

bool Engine::progress() {
  direct_->gather();
  bool done = incoming_->poll();
  done |= outgoing_->advance();
  done |= direct_->advance();
  if (!tasks_.empty()) done |= step_tasks();
  // A clock may have taken the last outcome.
  if (holds_ && !determinants_->replaying()) [[unlikely]]
    outcome_taken();
  return done;
}

bool Engine::anything_new() {
  return incoming_->ready() || direct_->anything_new() || outgoing_->advance() ||
         (!tasks_.empty() && step_tasks());
}

void Engine::look_around() {
  for (auto& hook : hooks_) hook();
  look_for_damage();
  look_at_protection();
}

void Engine::wait_slowly(unsigned rounds, const std::function<bool()>& done) {
  wait_hook_();
  if (repeats_ && waits_in_vain(done)) return;
  // Whoever is there after one yield need not have looked: it has not waited in vain.
  if (rounds > 0) look_around();
  looks_left_ = 0;  // each is no longer short
  const int ranks = world_.size();
  const bool crowded = world_.oversubscribed();
  if (rounds == 0 && !crowded && cores_ >= ranks) own_core_.settle();
  if (yielding_.stays() || (!crowded && yielding_.lingers(rounds == 0))) return pause_processor();
  if (rounds < options_.yields_before_sleep &&
      yielding_.yield(crowded ? ranks : 0, crowded || cores_ < ranks ? 0 : cores_))
    return;
  if (rounds == 0) look_around();
  world_.sleep([&] { return anything_new() || done(); });
}

bool Engine::found_nothing() {
  const bool time_to_yield = ++fruitless_calls_ % fruitless_calls_before_yield == 0;
  // A replay only counts such calls down, and is in a hurry.
  if (determinants_->replaying() && !time_to_yield) return false;
  const bool went_on = progress();
  if (!time_to_yield || determinants_->replaying()) return went_on;
  look_around();
  if (shared_)
    shared_->yield();
  else if (spin_rounds_ == 0)
    sched_yield();
  return true;
}

void Engine::look_at_protection() {
  if (keeps_ && !world_.is_protected()) keep_no_longer();
}

/// The job is no longer protected: what was kept for a replacement is reused from now on.
void Engine::keep_no_longer() {
  keeps_ = false;
  for (auto& arrival : arrivals_) {
    if (!arrival->payload || arrival->copy) continue;
    arrival->copy = std::make_unique<std::byte[]>(arrival->bytes);
    arrival->copy_capacity = arrival->bytes;
    copy_bytes(arrival->copy.get(), arrival->payload, arrival->bytes);
    arrival->payload = arrival->copy.get();
  }
  incoming_->release_consumed();
  outgoing_->keep_no_longer();
  determinants_->stop_recording();
}

/// A wild pointer of a rank may have written over what others wait for.
void Engine::look_for_damage() {
  const auto now = clock_.monotonic();
  if (now < next_damage_look_) return;
  // The first look is for who has waited a while.
  if (std::exchange(next_damage_look_, now + between_damage_looks).count() == 0) return;
  if (const std::string own = arena_.find_damage(); !own.empty()) world_.damaged(world_.rank(), own);
  incoming_->look_for_damage();
}

void Engine::no_memory(const Error& error) {
  if (error.code() == Errc::parse_error) world_.damaged(world_.rank(), error.text());
  if (keeps_) {
    if (!used_up_) world_.log_used_up();
    used_up_ = true;
    return look_at_protection();
  }
  const auto now = clock_.monotonic();
  if (no_memory_since_.count() == 0) no_memory_since_ = now;
  if (now - no_memory_since_ > no_memory_patience)
    world_.aborted(1, fmt::format("{}: there is no memory for messages: {}", describe_rank(), error.text()));
}

std::string Engine::describe_rank() const {
  const std::string rank = fmt::format("rank {} (incarnation {})", world_.rank(), world_.incarnation());
  const Runtime* runtime = runtime_if_any();
  if (!runtime || runtime->calls.current() == CallId::none) return rank;
  return fmt::format("{}, {} call {}", rank, call_name(runtime->calls.current()), runtime->calls.begun());
}

// Sends

bool Engine::send_now(const Buffer& buffer, int destination, int tag, Communicator& communicator) {
  return buffer.type->is_contiguous() &&
         outgoing_->send_now(buffer, communicator.world_rank(destination), communicator.context(), tag);
}

void Engine::send(const Buffer& buffer, int destination, int tag, Communicator& communicator, SendMode mode) {
  if (mode != SendMode::synchronous && mode != SendMode::buffered &&
      send_now(buffer, destination, tag, communicator))
    return;
  Request request;
  request.kind = Request::Kind::send;
  request.mode = mode;
  request.buffer = buffer;
  request.communicator = &communicator;
  request.tag = tag;
  request.peer = destination;
  start_send(request);
  wait(request);
}

void Engine::begin(Request& request) {
  request.active = true;
  request.complete = request.cancelled = false;
  request.error = MPI_SUCCESS;
  request.status_source = request.null_process ? MPI_PROC_NULL : MPI_ANY_SOURCE;
  request.status_tag = MPI_ANY_TAG;
  request.status_bytes = 0;
}

void Engine::start(Request& request) {
  if (request.null_process) {
    begin(request);
    request.complete = true;
  } else if (request.kind == Request::Kind::task) {
    request.kept->task->start();
    begin_task(request);
  } else if (request.kind == Request::Kind::send) {
    start_send(request);
  } else {
    start_receive(request);
  }
}

void Engine::start_send(Request& request) {
  begin(request);
  request.context = request.communicator->context();
  request.destination = request.communicator->world_rank(request.peer);
  if (request.mode != SendMode::buffered) return outgoing_->send(request);
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
  outgoing_->send(copy);
  complete(request);
}

void Engine::send_complete(Request& request) { complete(request); }

void Engine::complete(Request& request) {
  request.complete = true;
  if (!request.released) return;
  if (request.kind == Request::Kind::task) request.kept->task->free();
  requests_.remove(request);
}

// Tasks

Request& Engine::add_task(std::unique_ptr<Task> task) {
  Request& request = requests_.add();
  request.kind = Request::Kind::task;
  request.communicator = task->communicator();
  request.keep().communicator = Reference<Communicator>(request.communicator);
  request.kept->task = std::move(task);
  return request;
}

Request& Engine::start_task(std::unique_ptr<Task> task) {
  Request& request = add_task(std::move(task));
  begin_task(request);
  return request;
}

Request& Engine::add_persistent_task(std::unique_ptr<Task> task) {
  Request& request = add_task(std::move(task));
  request.persistent = true;
  return request;
}

void Engine::begin_task(Request& request) {
  begin(request);
  if (request.kept->task->step())
    complete(request);
  else
    tasks_.push_back(&request);
}

/// True when one of them has become complete.
bool Engine::step_tasks() {
  if (stepping_) return false;
  stepping_ = true;
  bool any_complete = false;
  // A step may begin further tasks, which are appended.
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    Request& request = *tasks_[i];
    if (!request.kept->task->step()) continue;
    tasks_[i] = nullptr;
    complete(request);
    any_complete = true;
  }
  if (any_complete) std::erase(tasks_, nullptr);
  stepping_ = false;
  return any_complete;
}

void Engine::acknowledged(int from, std::uint32_t context, std::uint64_t ordinal) {
  outgoing_->acknowledged(from, context, ordinal);
}

void Engine::granted(int from, const Grant& grant) { outgoing_->granted(from, grant); }

void Engine::granted_directly(int from, const DirectGrant& grant) {
  outgoing_->granted_directly(from, grant);
}

void Engine::grant_directly(int source, const DirectGrant& grant) {
  outgoing_->grant_directly(source, grant);
}

void Engine::wait(Request& request) {
  if (request.complete) return;
  hold(request);
  if (!await_answer(request)) wait_until([&] { return request.complete; });
}

/// Who has sent to where it now waits for a message from waits for an answer: when it looks first matters.
/// What is long takes its time, and is better taken while it comes.
bool Engine::is_answer(int from, Stream& stream) {
  const std::uint64_t sent = outgoing_->published_to(from);
  const bool sent_since = sent != stream.sent_before;
  stream.sent_before = sent;
  return sent_since && stream.last_bytes <= answer_bytes_max && spin_rounds_ > 0;
}

/// Waits a moment for what a receive is to take, where that may be an answer and nothing else is to be done.
/// Whether the receive is complete.
bool Engine::await_answer(Request& request) {
  if (request.kind != Request::Kind::receive || request.null_process || !has_nothing_else()) return false;
  int from = request.source;
  Stream* const stream = incoming_->one_stream(from);
  if (!stream || stream->last_bytes > posted_answer_bytes_max || is_turn_of_others()) return false;
  if (!is_answer(from, *stream)) return false;
  look_late(*stream);
  const unsigned looks_max = std::min(spin_rounds_, brief_looks_max);
  for (unsigned looks = 0; looks < looks_max && !stream->reader.is_announced(); ++looks) {
    if (stream->reader.ready()) {
      // Large messages that came together become one copy here, too.
      direct_->gather();
      const bool taken = incoming_->drain(from, *stream);
      direct_->advance();
      if (taken && request.complete) {
        stream->first_look.found_after(looks);
        return true;
      }
      if (!direct_->at_rest()) return false;
    }
    spend_look(*stream, looks);
  }
  return false;
}

bool Engine::cancel(Request& request) {
  if (request.kind != Request::Kind::receive || request.null_process || request.matched_by_probe)
    return false;
  bool cancelled = false;
  if (determinants_->replaying()) {
    auto taken = determinants_->replayer().take_cancel(request.post_index());
    if (!taken) diverged(taken.error().text());
    cancelled = *taken;
    if (cancelled) matcher_.cancel(request);
    outcome_taken();
  } else {
    progress();
    cancelled = !request.complete && !early_.has_begun(request) && matcher_.cancel(request);
    if (cancelled)
      determinants_->record_cancelled(request.post_index());
    else
      determinants_->record_completion(replay::CallKind::cancel, {});
  }
  if (!cancelled) return false;
  request.cancelled = true;
  request.status_source = MPI_ANY_SOURCE;
  request.status_tag = MPI_ANY_TAG;
  request.status_bytes = 0;
  complete(request);
  return true;
}

}  // namespace llamada::mpi
