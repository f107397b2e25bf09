#include "checkpoint/course.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>
#include <utility>

#include "coll/agreement.hpp"
#include "coll/collectives.hpp"
#include "interpose/signals.hpp"
#include "io/file.hpp"
#include "llamada/base/crash_point.hpp"
#include "p2p/engine.hpp"
#include "replay/protection.hpp"
#include "rma/window.hpp"
#include "world/identity.hpp"
#include "world/world.hpp"

namespace llamada::mpi::checkpoint {
namespace {

std::string directory_of(const World& world) {
  return std::string(identity_value(world.identity(), "checkpoints"));
}

template <typename Table>
void add_handles(std::vector<std::uint64_t>& handles, const Table& table) {
  table.for_each([&](int handle, const auto&) { handles.push_back(static_cast<std::uint32_t>(handle)); });
}

/// What each rank says of a checkpoint.
struct Vote {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  std::uint64_t is_written = 0;
};

/// A file system that several nodes share may be late.
constexpr int looks_for_directory = 20;
constexpr std::chrono::milliseconds between_looks{100};

bool is_of_checkpoint(std::uint64_t kind) {
  return kind == message_log_kind || kind == bulk_log_kind || kind == coll::collective_log_kind;
}

/// Of a log, no copy of one, behind the first checkpoint and before the present one: nobody looks there
/// again.
bool is_over(const log::LogKey& key, std::uint32_t present) {
  const std::uint32_t checkpoint = checkpoint_of_log(key);
  return key.high >> 32 == 0 && is_of_checkpoint(kind_of_log(key)) && checkpoint > 0 && checkpoint < present;
}

}  // namespace

Status Course::add(Region memory) {
  if (runtime_.world->checkpoint() > 0)
    return failure(Errc::invalid_argument, "memory is to be registered before the first checkpoint");
  if (!memory.empty()) memory_.push_back(memory);
  return {};
}

Course::Objects Course::objects() const {
  Objects now;
  now.handles.push_back(runtime_.engine->requests().named_count());
  runtime_.communicators.for_each([&](int handle, const Communicator& communicator) {
    now.handles.push_back(std::uint64_t{communicator.context()} << 32 | static_cast<std::uint32_t>(handle));
  });
  add_handles(now.handles, runtime_.groups);
  add_handles(now.handles, runtime_.datatypes);
  add_handles(now.handles, runtime_.operations);
  add_handles(now.handles, runtime_.error_handlers);
  add_handles(now.handles, runtime_.infos);
  add_handles(now.handles, runtime_.keyvals);
  now.files = open_files();
  now.inputs_read = runtime_.engine->determinants().inputs_read();
  return now;
}

std::string Course::obstacle_in_mpi() const {
  const World& world = *runtime_.world;
  if (!world.is_protected()) return "the job is no longer protected";
  if (directory_of(world).empty()) return "there is no directory for checkpoints: name one by mpirun --store";
  if (world.size() != world.world_size()) return "the job has started other programs by MPI_Comm_spawn";
  if (runtime_.lock) return "the program asked for MPI_THREAD_MULTIPLE";
  if (number_ > checkpoint_number_max) return "there are too many checkpoints";
  if (runtime_.engine->requests().any_active()) return "a request is active: complete it before";
  if (runtime_.collectives->persistent_count() > 0) return "the program has persistent collectives";
  if (runtime_.files && runtime_.files->any_open()) return "a file of MPI is open: close it before";
  bool has_window = false;
  if (runtime_.one_sided.windows)
    runtime_.one_sided.windows->for_each([&](int, const Window&) { has_window = true; });
  if (has_window) return "a window of one-sided communication is there: free it before";
  if (interpose::are_signals_handled()) return "the program handles signals";
  return {};
}

/// Why this rank could not go on from here, where it has these objects.
std::string Course::obstacle(const Objects& now) const {
  if (std::string why = obstacle_in_mpi(); !why.empty()) return why;
  if (now.handles != first_.handles)
    return "communicators, datatypes, requests or other objects of MPI were made or freed since the first "
           "checkpoint";
  if (now.inputs_read != first_.inputs_read) return "standard input was read since the first checkpoint";
  return obstacle_in(first_.files, now.files);
}

/// Whether this rank has nothing against the checkpoint, which `find_obstacle` says, or a predecessor found.
bool Course::agrees(const std::function<std::string()>& find_obstacle) {
  replay::Determinants& determinants = runtime_.engine->determinants();
  if (determinants.replaying()) return determinants.read_value(replay::ValueId::checkpoint_written, 0) == 1;
  std::string why = find_obstacle();
  const bool is_fine = why.empty();
  determinants.record_value(replay::ValueId::checkpoint_written, is_fine ? 1 : 0);
  if (!is_fine && told_ != why)
    runtime_.world->warning(fmt::format("checkpoint {} is not taken: {}", number_, why));
  if (!is_fine) told_ = std::move(why);
  return is_fine;
}

/// Writes this rank's part, unless something speaks against it.
std::string Course::write(const Objects& now) const {
  std::string why = obstacle(now);
  if (why.empty()) {
    World& world = *runtime_.world;
    ImageState state;
    state.number = number_;
    state.calls = runtime_.calls.begun();
    state.clocks = runtime_.engine->determinants().told_clocks();
    state.contexts = runtime_.collectives->context_ids().seen();
    state.written = world.written_output();
    state.files = now.files;
    LLAMADA_CRASH_POINT("checkpoint:begun");
    const auto written = write_image(image_path(directory_of(world), number_, world.rank()), state, memory_);
    if (!written) why = written.error().text();
  }
  LLAMADA_CRASH_POINT("checkpoint:written");
  return why;
}

/// A predecessor had written its part of a checkpoint from which this life of the job could not go on. The
/// memory is what it was then, since the rank has repeated what led to it.
void Course::write_again(const Objects& now) const {
  World& world = *runtime_.world;
  if (!world.is_resumed() || runtime_.engine->determinants().goes_on_from() != 0) return;
  if (const std::string why = write(now); !why.empty())
    world.warning(fmt::format("checkpoint {} cannot be written again: {}", number_, why));
}

/// This rank's node must have the directory in which rank 0 has written its part.
std::string Course::look_for_directory() const {
  const std::string directory = directory_of(*runtime_.world);
  const std::string path = image_path(directory, number_, runtime_.world_first);
  for (int look = 0; look < looks_for_directory; ++look) {
    if (look > 0) std::this_thread::sleep_for(between_looks);
    if (::access(path.c_str(), F_OK) == 0) return {};
  }
  return fmt::format(
      "{} is another directory here than on the node of rank 0; name one that all nodes share by "
      "mpirun --store",
      directory);
}

/// Whether all ranks have written theirs, and no message is under way.
Result<bool> Course::agree(bool is_written) {
  const auto [sent, received] = runtime_.engine->exchanged();
  Vote all{sent, received, is_written ? std::uint64_t{1} : 0};
  if (runtime_.world_size > 1) {
    auto votes = gather_from_all(*runtime_.comm_world(), all);
    if (!votes) return propagate(votes);
    all = {0, 0, 1};
    for (const Vote& vote : *votes)
      all = {all.sent + vote.sent, all.received + vote.received, all.is_written & vote.is_written};
  }
  if (all.is_written == 1 && all.sent == all.received && !runtime_.world->is_on_one_node()) {
    const bool sees_directory = agrees([this] { return look_for_directory(); });
    auto votes = gather_from_all(*runtime_.comm_world(), std::uint64_t{sees_directory ? 1U : 0U});
    if (!votes) return propagate(votes);
    return std::ranges::find(*votes, std::uint64_t{0}) == votes->end();
  }
  if (all.is_written == 0 || all.sent == all.received) return all.is_written == 1;
  if (runtime_.rank_in_world() == 0 && !runtime_.engine->replaying())
    runtime_.world->warning(
        fmt::format("checkpoint {} is not taken: {} messages have been sent that nobody has "
                    "received yet",
                    number_, all.sent - all.received));
  return false;
}

/// The process becomes what it was when the checkpoint with this number was taken.
Status Course::restore(std::uint32_t number) {
  World& world = *runtime_.world;
  auto state = read_image(image_path(directory_of(world), number, world.rank()), memory_);
  if (!state) return propagate(state);
  number_ = state->number;
  runtime_.calls.go_on_at(state->calls);
  runtime_.engine->determinants().restore_clocks(state->clocks);
  runtime_.collectives->context_ids().restore(std::move(state->contexts));
  checkpoint::restore(state->files);
  LLAMADA_CRASH_POINT("checkpoint:restored");
  world.restored(state->written);
  return {};
}

/// What follows is told, recorded and compared behind this checkpoint. Whether the rank has passed it for the
/// first time.
bool Course::pass(std::uint32_t number, bool is_restarted) {
  World& world = *runtime_.world;
  Engine& engine = *runtime_.engine;
  replay::Determinants& determinants = engine.determinants();
  // A rank that is resumed may not have recorded the checkpoint that the job goes on from.
  const bool is_repeated = determinants.was_passed(number) || determinants.goes_on_from() == number;
  if (!is_repeated && !is_restarted) engine.finish_replay_at_checkpoint();
  if (determinants.replaying()) engine.diverged("it has taken a checkpoint earlier than its predecessor");
  // Predecessors of this life of the job may have ended before.
  const std::uint64_t calls_before = identity_number(world.identity(), "calls").value_or(0);
  const bool repeats =
      (is_repeated || is_restarted) && world.incarnation() > 1 && calls_before >= runtime_.calls.begun();
  const bool follows = (is_repeated || is_restarted) && world.is_resumed();
  const bool is_first_pass = !is_repeated && !is_restarted;
  if (is_first_pass) {
    determinants.will_pass_checkpoint();
    if (runtime_.files) runtime_.files->will_pass_checkpoint();
    world.checkpoint_written(number);
  }
  determinants.pass_checkpoint(number);

  std::vector<Communicator*> communicators;
  runtime_.for_each_communicator([&](Communicator& communicator) { communicators.push_back(&communicator); });
  runtime_.collectives->pass_checkpoint(communicators, past_);
  left_ = world.checkpoint();
  engine.pass_checkpoint(number, repeats, follows, past_);
  if (runtime_.files) runtime_.files->pass_checkpoint();
  engine.follow(runtime_.calls);
  LLAMADA_CRASH_POINT("checkpoint:left");
  return is_first_pass;
}

/// All ranks have passed the checkpoint: nobody needs what lies before it, and behind the first one.
void Course::give_back_logs() {
  log::ArenaWriter& arena = runtime_.world->arena();
  const std::uint32_t present = runtime_.world->checkpoint();
  const log::PeerArena own = arena.reading();
  const auto is_log_over = [&](std::uint32_t index) {
    const log::LogEntry& entry = own.log(index);
    return is_over({entry.key_high, entry.key_low}, present);
  };
  if (ProgressHook* const link = runtime_.world->link(); link && left_ > 0) {
    for (int rank = runtime_.world_first; rank < runtime_.world_first + runtime_.world_size; ++rank) {
      if (runtime_.world->is_local(rank)) continue;
      link->stop_reading(rank, message_log_key(runtime_.world_rank, left_));
      link->stop_reading(rank, bulk_log_key(runtime_.world_rank, left_));
    }
  }
  for (const auto& log : past_) {
    if (log->checkpoint() > 0) log->discard();
    LLAMADA_CRASH_POINT("checkpoint:log-given-back");
  }
  // What lies before the first, replacements on other nodes may ask for.
  std::erase_if(past_, [](const auto& log) { return log->checkpoint() > 0; });
  // What predecessors wrote, this process has not used.
  for (std::uint32_t index = 0; index < own.log_count(); ++index) {
    if (!is_log_over(index)) continue;
    if (auto log = log::LogWriter::adopt(arena, index, {})) log->discard();
  }
  for (std::uint32_t index = 0; index < own.cursor_count(); ++index) {
    const log::CursorEntry& cursor = own.cursor(index);
    if (is_over({cursor.key_high, cursor.key_low}, present))
      arena.remove_cursor(const_cast<log::CursorEntry*>(&cursor));
  }
}

/// The same for what the rank has recorded. A job that outlives its processes has it in its store: the answer
/// to World::checkpoint_written() has said so.
void Course::give_back_records() {
  runtime_.engine->determinants().give_back_records();
  if (runtime_.files) runtime_.files->give_back_records();
  LLAMADA_CRASH_POINT("checkpoint:records-given-back");
}

Result<Course::Taken> Course::take() {
  World& world = *runtime_.world;
  if (!world.protection().records_outcomes) return Taken{true, false};
  ++number_;
  std::fflush(nullptr);
  const Objects now = objects();
  if (world.checkpoint() == 0) first_ = now;
  const bool is_repeated = runtime_.engine->determinants().replaying();
  const bool is_written = agrees([this, &now] { return write(now); });
  if (is_repeated && is_written) write_again(now);
  auto agreed = agree(is_written);
  if (!agreed) return propagate(agreed);
  if (!*agreed) {
    remove_image(directory_of(world), number_, world.rank());
    return Taken{};
  }
  LLAMADA_CRASH_POINT("checkpoint:agreed");
  const std::uint32_t target = std::max(runtime_.engine->determinants().goes_on_from(), number_);
  const bool is_restarted = target > number_;
  if (is_restarted)
    if (auto restored = restore(target); !restored) {
      const std::string why =
          fmt::format("it cannot go on from checkpoint {}: {}", target, restored.error().text());
      world.checkpoint_unusable(target, why);
      world.aborted(exit_unprotected, why);
    }
  const bool is_first_pass = pass(target, is_restarted);
  if (runtime_.world_size > 1)
    if (auto met = meet(*runtime_.comm_world()); !met) return propagate(met);
  LLAMADA_CRASH_POINT("checkpoint:all-passed");
  give_back_logs();
  if (is_first_pass) give_back_records();
  remove_images_before(directory_of(world), target, world.rank(), world.outlives_processes() ? 1 : 0);
  return Taken{true, is_restarted};
}

Course& course() {
  static Course* const made = new Course(runtime());
  return *made;
}

}  // namespace llamada::mpi::checkpoint
