#include "lifecycle/init.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "api/tool_variables.hpp"
#include "coll/agreement.hpp"
#include "coll/awaits_collective.hpp"
#include "coll/collectives.hpp"
#include "coll/survivors.hpp"
#include "interpose/rank_thread.hpp"
#include "interpose/signals.hpp"
#include "io/file.hpp"
#include "lifecycle/exit_watch.hpp"
#include "lifecycle/injection.hpp"
#include "llamada/base/clock.hpp"
#include "llamada/base/crash_point.hpp"
#include "p2p/engine.hpp"
#include "process/process.hpp"
#include "process/static_memory.hpp"
#include "rma/kept_segments.hpp"
#include "runtime/entry.hpp"
#include "spawn/spawn.hpp"
#include "standby/standby.hpp"
#include "world/identity.hpp"
#include "world/world.hpp"

namespace llamada::mpi {
namespace {

/// Collectives wait as everything else does: messages are taken meanwhile. Copies of large ones give way.
class EngineWaiter final : public coll::Waiter {
 public:
  explicit EngineWaiter(Engine& engine) : engine_(engine) {}
  void wait_until(const std::function<bool()>& done) override {
    engine_.wait_until(done, nullptr, Engine::Bulk::gives_way);
  }
  void wait_for(const coll::Channel& channel, const std::function<bool()>& done) override {
    const coll::AwaitsCollective awaits(channel, runtime().collectives->root());
    engine_.wait_until(done, &awaits, Engine::Bulk::gives_way);
  }

 private:
  Engine& engine_;
};

/// What MPI_Init makes, in the order in which the parts need each other.
struct Process {
  SystemClock clock;
  Runtime runtime;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<EngineWaiter> waiter;
  std::unique_ptr<coll::Collectives> collectives;
  Injection injection;
  std::unique_ptr<standby::Standby> standby;
};

Engine::Options engine_options(const qos::Tuning& tuning, replay::Determinants* determinants) {
  using qos::TuningId;
  Engine::Options options;
  options.eager_bytes_max = tuning.value(TuningId::eager_bytes_max);
  options.direct_bytes_min = tuning.value(TuningId::direct_bytes_min);
  options.log_bytes_max = tuning.value(TuningId::log_bytes_max);
  options.bulk_piece_bytes = tuning.value(TuningId::bulk_piece_bytes);
  options.receives_before_send = tuning.value(TuningId::receive_before_send) != 0;
  if (const auto rounds = tuning.given(TuningId::spin_rounds))
    options.spin_rounds = static_cast<unsigned>(*rounds);
  options.yields_before_sleep = static_cast<unsigned>(tuning.value(TuningId::yields_before_sleep));
  options.determinants = determinants;
  return options;
}

void make_collectives(Process& process, World& world) {
  const qos::Tuning& tuning = world.profile().tuning;
  coll::Collectives::Options options;
  options.piece_bytes = tuning.value(qos::TuningId::collective_piece_bytes);
  options.log_bytes_max = tuning.value(qos::TuningId::collective_log_bytes_max);
  options.begins_with_barrier = tuning.value(qos::TuningId::collective_barrier) != 0;
  options.keep_all = world.protection().keeps_messages;
  options.describe_call = [&engine = *process.engine] { return engine.describe_rank(); };
  if (process.injection.is_in_middle())
    options.after_publish = [&injection = process.injection] { injection.after_publish(); };
  if (options.keep_all && world.incarnation() > 1)
    options.may_contribute = [&engine = *process.engine] { return engine.may_tell_new(); };
  options.losses = &process.engine->losses();
  options.look_for_culprit = [&engine = *process.engine] { engine.look_for_culprit(); };
  process.waiter = std::make_unique<EngineWaiter>(*process.engine);
  process.collectives =
      std::make_unique<coll::Collectives>(world, *process.waiter, process.clock, std::move(options));
  process.runtime.collectives = process.collectives.get();
  process.engine->on_report(
      [&collectives = *process.collectives](waits::Report& report) { collectives.describe(report); });
  process.engine->on_progress([&collectives = *process.collectives] {
    collectives.end_those_in_vain();
    collectives.skip_stale();
  });
  process.engine->on_revoked(pass_on_revocation);
}

void fill_runtime(Runtime& runtime, World& world, int thread_level) {
  runtime.world = &world;
  runtime.threads.level = thread_level;
  runtime.threads.main = syscall(SYS_gettid);
  runtime.attributes.wtime_is_global = world.is_on_one_node() ? 1 : 0;
  runtime.attributes.survivors_go_on = world.survivors_go_on() ? 1 : 0;
  // Which program of the job this is, when mpirun was given several.
  if (const char* number = std::getenv("LLAMADA_APPNUM"))
    runtime.attributes.application_number = std::atoi(number);
  runtime.end_job = [&world](int code, std::string_view text) { world.aborted(code, text); };
  auto& header = world.arena().header();
  runtime.calls.publish_to(&header.call_id, &header.call_index);
  // Where the first incarnation ran: the program has seen that name.
  runtime.processor_name = identity_value(world.identity(), "host");
  fill_with_environment(*runtime.infos.find(MPI_INFO_ENV), world.world_size(), runtime.processor_name);
  runtime.add_world(world.rank(), world.world_size(), coll::Collectives::world_context,
                    coll::Collectives::self_context, world.world_first());
  // -usize of mpirun.
  if (const char* number = std::getenv("LLAMADA_UNIVERSE_SIZE"))
    runtime.attributes.universe_size = std::atoi(number);
}

Injection read_injection(World& world) {
  auto injection = Injection::parse(world.identity());
  if (!injection) world.aborted(1, fmt::format("--inject: {}", injection.error().text()));
  return *injection;
}

/// What several threads need, when they have not had it.
void raise_thread_level(Runtime& runtime, int thread_level) {
  runtime.threads.level = std::max(runtime.threads.level, thread_level);
  if (thread_level != MPI_THREAD_MULTIPLE || runtime.lock) return;
  runtime.lock = std::make_unique<LibraryLock>();
  runtime.waiting = runtime.engine->share(*runtime.lock);
}

/// The program is between the start and the end of MPI.
void begin_program(Runtime& runtime) {
  watch_exit(*runtime.world);
  runtime.world->arena().set_state(log::ArenaState::in_program);
}

void warn_if_unheard(World& world) {
  if (world.rank() == 0 && !interpose::replaces_libc())
    world.warning(
        "libmpi is behind libc among the program's libraries. So the clocks and random numbers of libc, and "
        "the bytes that the program appends to its files, are not recorded for a replacement; start the "
        "program with libmpi.so.12 preloaded: mpirun -x LD_PRELOAD=...");
}

/// A copy of the process has taken over.
void become_rank(Process& process) {
  World& world = *process.runtime.world;
  begin_program(process.runtime);
  process.injection = read_injection(world);
  process.injection.arm(process.runtime.calls);
}

void make_standbys(Process& process) {
  const World& world = *process.runtime.world;
  const bool wants_some = world.profile().rank_replacement.standby_interval != qos::standby_off;
  if (!wants_some || !world.protection().records_outcomes) return;
  process.standby = std::make_unique<standby::Standby>(process.runtime, process.clock,
                                                       [&process] { become_rank(process); });
  process.standby->arm();
}

void make_library(int thread_level) {
  // First: what joining asks of libc is not to be recorded.
  replay::Determinants* determinants = interpose::determinants_for_init();
  World* world = early_world();
  if (world == nullptr)
    fatal(
        "MPI_Init was called from within itself or in a child of fork(). Under rank replacement the parent "
        "is the rank "
        "as soon as it asks for the time or for random numbers; call MPI_Init in the parent, or start the "
        "job "
        "with --qos default");
  if (determinants && determinants->recording()) warn_if_unheard(*world);
  ask_for_huge_static_memory();
  // For as long as the process: what is legal after MPI_Finalize needs it, and so do handlers at exit.
  Process* process = std::make_unique<Process>().release();
  process->injection = read_injection(*world);
  fill_runtime(process->runtime, *world, thread_level);
  Engine::Options options = engine_options(world->profile().tuning, determinants);
  options.hook = world->link();
  auto engine = Engine::create(*world, process->clock, options);
  if (!engine) world->aborted(1, fmt::format("MPI_Init: {}", engine.error().text()));
  process->engine = std::move(*engine);
  process->runtime.engine = process->engine.get();
  tool_information::apply_settings(*process->engine);
  make_collectives(*process, *world);
  install_runtime(&process->runtime);
  LLAMADA_CRASH_POINT("init:engine-made");
  process->injection.arm(process->runtime.calls);
  process->engine->set_past({[&collectives = *process->collectives] { return collectives.left_over(); },
                             [world] { return io::left_over(*world); },
                             [&collectives = *process->collectives] { collectives.look_for_damage(); }});
  process->engine->follow(process->runtime.calls);
  if (determinants) {
    interpose::deliver_signals_at(process->runtime.calls, [] { return runtime().engine->repeats_calls(); });
    process->engine->waiting().on_wait(interpose::deliver_signals_in_call);
  }
  make_standbys(*process);
}

void meet_parents(Runtime& runtime) {
  auto parents = join_parents();
  if (!parents && runtime.world->survivors_go_on()) {
    runtime.world->warning(
        fmt::format("ends in MPI_Init, for it cannot join its parents: {}", parents.error().text()));
    std::_Exit(1);
  }
  if (!parents) runtime.world->aborted(1, fmt::format("MPI_Init: the parents: {}", parents.error().text()));
  if (*parents) runtime.spawning.parent = (*parents)->handle();
}

/// All ranks have what they need of all, and each knows it of all: a process manager kills what is left on a
/// node when the node's ranks have ended.
void meet_at_process_manager(Runtime& self) {
  PmiJob* manager = process_manager();
  if (manager == nullptr) return;
  for (;;) {
    auto met = manager->all_have_come();
    if (!met) self.world->aborted(1, fmt::format("MPI_Finalize: {}", met.error().text()));
    if (*met) return;
    // Others may still wait for acknowledgements.
    self.engine->wait_until([looks = 0]() mutable { return looks++ > 0; });
  }
}

void leave_process_manager(Runtime& self) {
  PmiJob* manager = process_manager();
  if (manager == nullptr) return;
  self.world->leave();
  manager->leave();
}

/// The last session of a process is known only then.
void leave_process_manager_at_exit() {
  if (process_manager() == nullptr || runtime().stage.initialized) return;
  static const int registered = std::atexit([] {
    Runtime& self = runtime();
    if (process_manager() == nullptr || self.stage.initialized || self.stage.open_sessions > 0) return;
    meet_at_process_manager(self);
    leave_process_manager(self);
  });
  static_cast<void>(registered);
}

/// Where ranks may die for good, those that live meet although some have died, or somebody has revoked
/// MPI_COMM_WORLD.
Status meet_at_end(Communicator& comm_world) {
  if (!runtime().world->survivors_go_on()) return meet(comm_world);
  auto met = agree(comm_world, 0);
  return met ? Status() : Status(propagate(met));
}

}  // namespace

void initialize(int thread_level) {
  const bool alone = runtime_if_any() == nullptr;
  if (alone) make_library(thread_level);
  Runtime& self = runtime();
  begin_program(self);
  // Before there are several threads; with a session's, in order.
  if (self.lock) self.lock->lock();
  meet_parents(self);
  if (self.lock) self.lock->unlock();
  raise_thread_level(self, thread_level);
}

void enter_by_session(int thread_level) {
  if (runtime_if_any() == nullptr) make_library(thread_level);
  Runtime& self = runtime();
  if (self.stage.open_sessions++ == 0 && (!self.stage.initialized || self.stage.finalized))
    begin_program(self);
  raise_thread_level(self, thread_level);
  self.stage.plain = !self.lock;
}

void leave_by_session() {
  Runtime& self = runtime();
  if (--self.stage.open_sessions > 0 || (self.stage.initialized && !self.stage.finalized)) return;
  // Communicators of the session have been freed: what others need of this rank is on its way.
  self.engine->finish();
  self.engine->finish_replay();
  self.engine->wait_until([&] { return self.world->has_delivered(); });
  leave_process_manager_at_exit();
  self.one_sided.kept_segments.reset();
  exit_is_allowed();
  self.world->arena().set_state(log::ArenaState::finalized);
  self.stage.plain = false;
}

void finalize() {
  Runtime& self = runtime();
  // The program's delete callbacks for MPI_COMM_SELF come first (8.7.1).
  auto* comm_self = self.communicators.find(MPI_COMM_SELF);
  comm_self->attributes().remove_all(MPI_COMM_SELF);
  if (self.stage.open_sessions == 0) self.engine->end_of_mpi_begins();
  self.engine->finish();
  self.one_sided.kept_segments.reset();
  if (self.world_size > 1) {
    // Nobody leaves before all have what they need of all.
    if (auto met = meet_at_end(*self.comm_world()); !met) report(self.comm_world(), met.error());
  }
  self.engine->finish_replay();
  self.engine->wait_until([&] { return self.world->has_delivered(); });
  LLAMADA_CRASH_POINT("finalize:agreed");
  meet_at_process_manager(self);
  exit_is_allowed();
  self.world->arena().set_state(log::ArenaState::finalized);
  wait_for_connected();
  leave_process_manager(self);
  LLAMADA_CRASH_POINT("finalize:done");
}

}  // namespace llamada::mpi
