#include "standby/standby.hpp"

#include <fmt/core.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <utility>

#include "coll/collectives.hpp"
#include "interpose/rank_thread.hpp"
#include "interpose/signals.hpp"
#include "io/ledger.hpp"
#include "llamada/base/crash_point.hpp"
#include "llamada/log/arena_layout.hpp"
#include "p2p/engine.hpp"
#include "standby/process_copy.hpp"

namespace llamada::mpi::standby {

/// What the copy is to know of the moment at which it was made.
struct BeforeCopy {
  replay::Determinants::Mark record;
  Copied copied;
  std::chrono::nanoseconds now{};
};

Standby::Standby(Runtime& runtime, const Clock& clock, std::function<void()> became_rank)
    : runtime_(runtime),
      clock_(clock),
      became_rank_(std::move(became_rank)),
      pace_(runtime.world->profile().rank_replacement.standby_interval, clock.monotonic()) {}

void Standby::arm(std::uint64_t calls) {
  runtime_.calls.watch(runtime_.calls.begun() + calls, [this] { look(); });
}

void Standby::look() {
  Stage& stage = runtime_.stage;
  // A replay has its own plans for the end of a call.
  if (!pace_.look(clock_.monotonic()) || stage.at_leave || runtime_.engine->replaying()) return arm();
  if (runtime_.lock) {
    skip("the program asked for MPI_THREAD_MULTIPLE");
    return arm();
  }
  stage.at_leave = [this] { make(); };
  stage.plain = false;
}

/// Why there is none now; empty: there can be one.
std::string Standby::obstacle() const {
  World& world = *runtime_.world;
  if (std::string why = world.obstacle_to_standby(); !why.empty()) return why;
  if (runtime_.one_sided.windows) return "the program has used one-sided communication";
  if (runtime_.files || io::Ledger::is_there(world)) return "the program has used files of MPI";
  if (runtime_.stage.open_sessions > 0) return "the program uses sessions";
  if (interpose::are_signals_handled()) return "the program handles signals";
  const replay::Determinants& determinants = runtime_.engine->determinants();
  if (!determinants.recording()) return "nothing is recorded";
  if (determinants.inputs_read() > 0) return "the program has read standard input";
  if (determinants.goes_on_from() != 0) return "the program takes checkpoints";
  return obstacle_in_process({world.arena().base(), world.arena().header().size_bytes});
}

bool Standby::is_under_way() const {
  const Engine& engine = *runtime_.engine;
  return engine.replaying() || engine.repeats_calls() || !engine.may_be_copied() ||
         !runtime_.collectives->is_idle();
}

/// Said once for each reason.
void Standby::skip(const std::string& why) {
  runtime_.world->arena().count(log::Counter::standbys_skipped);
  pace_.skipped(clock_.monotonic());
  tries_ = 0;
  if (told_.insert(why).second) runtime_.world->note(fmt::format("no standby was made: {}", why));
}

void Standby::make() {
  if (runtime_.stage.finalized) return;
  if (is_under_way() && ++tries_ < tries_max) return arm(1);
  if (std::string why = is_under_way() ? "communication was under way" : obstacle(); !why.empty()) {
    skip(why);
  } else if (auto files = ProgramFiles::look(); !files) {
    skip(files.error().text());
  } else {
    fork(*files);
  }
  arm();
}

void Standby::fork(const ProgramFiles& files) {
  LLAMADA_CRASH_POINT("standby:begun");
  const auto begun = clock_.monotonic();
  const WrittenOutput written = runtime_.world->output_so_far();
  BeforeCopy before{runtime_.engine->determinants().mark(), {}, clock_.monotonic()};
  auto copied = copy_process();
  if (!copied) return skip(copied.error().text());
  tries_ = 0;
  if (copied->is_copy) {
    before.copied = std::move(*copied);
    be_parked(files, written, before);
    pace_.skipped(clock_.monotonic());
    return;
  }
  runtime_.world->arena().count(log::Counter::standbys_made);
  LLAMADA_CRASH_POINT("standby:made");
  const auto now = clock_.monotonic();
  pace_.made(now, now - begun + faults_.cost_since_last_look());
  if (std::exchange(has_told_cost_, true)) return;
  using Seconds = std::chrono::duration<double>;
  runtime_.world->note(fmt::format("its first standby took {:.1f} ms; the next one is due in {:.3g} s",
                                   1000 * Seconds(now - begun).count(), Seconds(pace_.interval()).count()));
}

/// Waits to be the rank, and then leaves a copy of itself in its place: a rank that dies again goes on from
/// the same call. Returns in the one that becomes the rank.
Standby::Turn Standby::await_turn(std::uint64_t call) {
  for (;;) {
    auto streams = runtime_.world->park(call);
    if (!streams) end_copy();
    LLAMADA_CRASH_POINT("standby:chosen");
    auto copied = copy_process();
    if (!copied) return {std::move(*streams), {}};
    if (!copied->is_copy) return {std::move(*streams), std::move(copied->copy)};
    disarm_crash_points();  // a step that a test has armed ends one process
  }
}

/// In the copy, which returns from here as the rank.
void Standby::be_parked(const ProgramFiles& files, const WrittenOutput& written, const BeforeCopy& before) {
  World& world = *runtime_.world;
  Engine& engine = *runtime_.engine;
  const std::uint64_t calls = runtime_.calls.begun();
  let_go_of_streams();
  Turn turn = await_turn(calls);
  const auto must = [&turn](const auto& done) {
    if (done) return;
    // The copy that it has left would come to the same end.
    if (turn.other) end_other(turn.other);
    end_copy();
  };
  must(go_on_with(turn.streams, before.copied.signals));
  turn.streams.clear();
  LLAMADA_CRASH_POINT("standby:woken");
  must(files.reopen());
  must(world.take_over());
  must(engine.determinants().take_over(before.record));
  must(runtime_.collectives->take_over([&engine] { return engine.may_tell_new(); }));
  must(engine.take_over());
  LLAMADA_CRASH_POINT("standby:logs-opened");
  runtime_.threads.main = ::syscall(SYS_gettid);
  runtime_.calls.forget_watches();
  runtime_.calls.go_on_at(calls);
  world.arena().count(log::Counter::standbys_woken, 1, log::Counter::standbys_made, turn.other ? 1 : 0);
  world.goes_on_as_copy(written, clock_.monotonic() - before.now);
  became_rank_();
  interpose::become_rank_thread();
  engine.follow(runtime_.calls);
  LLAMADA_CRASH_POINT("standby:replaying");
}

}  // namespace llamada::mpi::standby
