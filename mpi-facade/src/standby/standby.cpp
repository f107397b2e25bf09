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
#include "p2p/engine.hpp"
#include "standby/process_copy.hpp"

namespace llamada::mpi::standby {

/// What the copy is to know of the moment at which it was made.
struct BeforeCopy {
  replay::Determinants::Mark record;
  Copied copied;
};

Standby::Standby(Runtime& runtime, const Clock& clock, std::function<void()> became_rank)
    : runtime_(runtime),
      clock_(clock),
      became_rank_(std::move(became_rank)),
      pace_(runtime.world->profile().rank_replacement.standby_interval, clock.monotonic()) {}

void Standby::arm() {
  runtime_.calls.watch(runtime_.calls.begun() + pace_.calls_until_look(), [this] { look(); });
}

void Standby::look() {
  if (pace_.look(clock_.monotonic()) && !runtime_.stage.at_leave && !runtime_.lock) {
    runtime_.stage.at_leave = [this] { make(); };
    runtime_.stage.plain = false;
    return;
  }
  arm();
}

/// Why there is none now; empty: there can be one.
std::string Standby::obstacle() const {
  World& world = *runtime_.world;
  if (std::string why = world.obstacle_to_standby(); !why.empty()) return why;
  if (runtime_.lock) return "the program asked for MPI_THREAD_MULTIPLE";
  if (runtime_.one_sided.windows) return "the program has used one-sided communication";
  if (runtime_.files || io::Ledger::is_there(world)) return "the program has used files of MPI";
  if (runtime_.stage.finalized || runtime_.stage.open_sessions > 0) return "the program uses sessions";
  if (interpose::are_signals_handled()) return "the program handles signals";
  const replay::Determinants& determinants = runtime_.engine->determinants();
  if (!determinants.recording()) return "nothing is recorded";
  if (determinants.inputs_read() > 0) return "the program has read standard input";
  if (determinants.goes_on_from() != 0) return "the program takes checkpoints";
  if (runtime_.engine->replaying() || runtime_.engine->repeats_calls()) return "the rank repeats what it did";
  if (!runtime_.engine->may_be_copied() || !runtime_.collectives->is_idle())
    return "communication was under way at the end of the MPI call";
  return obstacle_in_process({world.arena().base(), world.arena().header().size_bytes});
}

/// Said once for each reason.
void Standby::skip(const std::string& why) {
  if (told_.insert(why).second) runtime_.world->note(fmt::format("no standby was made: {}", why));
}

void Standby::make() {
  std::string why = obstacle();
  if (!why.empty()) {
    skip(why);
  } else if (auto files = ProgramFiles::look(); !files) {
    skip(files.error().text());
  } else {
    LLAMADA_CRASH_POINT("standby:begun");
    const WrittenOutput written = runtime_.world->output_so_far();
    BeforeCopy before{runtime_.engine->determinants().mark(), {}};
    auto copied = copy_process();
    if (copied && copied->is_copy) {
      before.copied = *copied;
      be_parked(*files, written, before);
    } else if (!copied) {
      skip(copied.error().text());
    }
    LLAMADA_CRASH_POINT("standby:made");
  }
  pace_.made(clock_.monotonic());
  arm();
}

/// In the copy, which returns from here as the rank.
void Standby::be_parked(const ProgramFiles& files, const WrittenOutput& written, const BeforeCopy& before) {
  World& world = *runtime_.world;
  Engine& engine = *runtime_.engine;
  const std::uint64_t calls = runtime_.calls.begun();
  const auto must = [](const auto& done) {
    if (!done) end_copy();
  };
  let_go_of_streams();
  {
    auto streams = world.park(calls);
    must(streams);
    must(go_on_with(*streams, before.copied.signals));
  }
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
  world.restored(written);
  became_rank_();
  interpose::become_rank_thread();
  engine.follow(runtime_.calls);
  LLAMADA_CRASH_POINT("standby:replaying");
}

}  // namespace llamada::mpi::standby
