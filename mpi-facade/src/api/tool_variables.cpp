#include "api/tool_variables.hpp"

#include <iterator>

#include "llamada/qos/tuning.hpp"
#include "p2p/engine.hpp"
#include "runtime/runtime.hpp"
#include "world/world.hpp"

namespace llamada::mpi::tool_information {
namespace {

using log::Counter;
using qos::TuningId;

/// What was written before there was an Engine.
qos::Tuning settings;

/// Before MPI_Init null.
Engine* engine() {
  Runtime* runtime = runtime_seen_by_any_thread();
  return runtime ? runtime->engine : nullptr;
}

const World* world() {
  Engine* there = engine();
  return there ? &there->world() : nullptr;
}

const log::ArenaHeader* header() {
  Engine* there = engine();
  return there ? &there->world().arena().header() : nullptr;
}

template <Counter counter>
std::uint64_t counted() {
  const auto* there = header();
  return there ? there->counters[static_cast<std::size_t>(counter)].load(std::memory_order_relaxed) : 0;
}

// Control variables

/// A setting of the whole job, from its profile.
template <TuningId id>
std::uint64_t job_value() {
  const World* there = world();
  return there ? there->profile().tuning.value(id) : qos::tuning_variable(id).start;
}

template <TuningId id>
std::uint64_t most() {
  if constexpr (id == TuningId::eager_bytes_max) return job_value<TuningId::log_bytes_max>() / 8;
  return qos::tuning_variable(id).most;
}

/// A setting of this rank alone, which may be written at any time.
template <TuningId id, auto get, auto set>
struct Setting {
  static std::uint64_t read() {
    if (Engine* there = engine()) return (there->*get)();
    return settings.value(id);
  }
  static int write(std::uint64_t value) {
    if (value < qos::tuning_variable(id).least || value > most<id>()) return MPI_T_ERR_INVALID;
    settings.set(id, value);
    if (Engine* there = engine()) (there->*set)(value);
    return MPI_SUCCESS;
  }
};
using EagerBytes = Setting<TuningId::eager_bytes_max, &Engine::eager_bytes_max, &Engine::set_eager_bytes_max>;
using DirectBytes =
    Setting<TuningId::direct_bytes_min, &Engine::direct_bytes_min, &Engine::set_direct_bytes_min>;
using SpinRounds = Setting<TuningId::spin_rounds, &Engine::spin_rounds, &Engine::set_spin_rounds>;
using Yields =
    Setting<TuningId::yields_before_sleep, &Engine::yields_before_sleep, &Engine::set_yields_before_sleep>;

/// The control variable of a setting, with the name and the description that it has everywhere.
template <typename OfRank>
constexpr ControlVariable of_rank(TuningId id, Category category, MPI_Datatype type) {
  const qos::TuningVariable& variable = qos::tuning_variable(id);
  return {variable.name, variable.description, category, MPI_T_VERBOSITY_TUNER_BASIC,
          type,          MPI_T_SCOPE_LOCAL,    nullptr,  OfRank::read,
          OfRank::write};
}
template <TuningId id>
constexpr ControlVariable of_job(Category category) {
  const qos::TuningVariable& variable = qos::tuning_variable(id);
  return {variable.name,
          variable.description,
          category,
          MPI_T_VERBOSITY_TUNER_DETAIL,
          MPI_UNSIGNED_LONG_LONG,
          MPI_T_SCOPE_CONSTANT,
          nullptr,
          job_value<id>,
          nullptr};
}

constexpr int unknown_replacement = -1;
constexpr EnumItem replacement_items[] = {
    {unknown_replacement, "UNKNOWN"}, {0, "ABORT"}, {1, "REBUILD"}, {2, "OTHER"}};
constexpr Enumeration replacement_enumeration{"llamada_rank_replacement_kind", replacement_items};

std::uint64_t rank_replacement() {
  const World* there = world();
  if (!there) return static_cast<std::uint64_t>(unknown_replacement);
  switch (there->profile().rank_replacement.kind) {
    case qos::RankReplacementKind::abort:
      return 0;
    case qos::RankReplacementKind::rebuild:
      return 1;
    default:
      return 2;
  }
}

std::uint64_t log_bytes_per_node() {
  const World* there = world();
  return there ? there->profile().rank_replacement.log_bytes_per_node : 0;
}

constexpr ControlVariable control[] = {
    of_rank<EagerBytes>(TuningId::eager_bytes_max, Category::messages, MPI_UNSIGNED_LONG_LONG),
    of_rank<DirectBytes>(TuningId::direct_bytes_min, Category::messages, MPI_UNSIGNED_LONG_LONG),
    of_job<TuningId::log_bytes_max>(Category::messages),
    of_job<TuningId::bulk_piece_bytes>(Category::messages),
    of_job<TuningId::collective_piece_bytes>(Category::messages),
    of_job<TuningId::collective_log_bytes_max>(Category::messages),
    of_job<TuningId::receive_before_send>(Category::messages),
    of_job<TuningId::collective_barrier>(Category::messages),
    of_rank<SpinRounds>(TuningId::spin_rounds, Category::waiting, MPI_UNSIGNED),
    of_rank<Yields>(TuningId::yields_before_sleep, Category::waiting, MPI_UNSIGNED),
    {"llamada_rank_replacement",
     "What the job's profile says of dead ranks: ABORT ends the job, REBUILD replaces them. Known from "
     "MPI_Init on.",
     Category::fault_tolerance, MPI_T_VERBOSITY_USER_BASIC, MPI_INT, MPI_T_SCOPE_READONLY,
     &replacement_enumeration, rank_replacement, nullptr},
    {"llamada_log_bytes_per_node",
     "The memory that the profile gives to the histories of a node's ranks, in bytes. Known from MPI_Init "
     "on.",
     Category::fault_tolerance, MPI_T_VERBOSITY_USER_BASIC, MPI_UNSIGNED_LONG_LONG, MPI_T_SCOPE_READONLY,
     nullptr, log_bytes_per_node, nullptr},
};

// Performance variables

std::uint64_t unexpected_length() {
  Engine* there = engine();
  return there ? there->unexpected_count() : 0;
}

std::uint64_t posted_length() {
  Engine* there = engine();
  return there ? there->posted_count() : 0;
}

std::uint64_t pool_used() {
  const auto* there = header();
  return there ? there->pool_used.load(std::memory_order_relaxed) : 0;
}

std::uint64_t pool_live() {
  const auto* there = header();
  return there ? there->pool_live.load(std::memory_order_relaxed) : 0;
}

std::uint64_t replacements() {
  const World* there = world();
  return there ? there->incarnation() - 1 : 0;
}

std::uint64_t is_protected() {
  const World* there = world();
  return there && there->protection().keeps_messages && there->is_protected();
}

constexpr int counter = MPI_T_PVAR_CLASS_COUNTER, level = MPI_T_PVAR_CLASS_LEVEL,
              size = MPI_T_PVAR_CLASS_SIZE, state = MPI_T_PVAR_CLASS_STATE;
constexpr int user = MPI_T_VERBOSITY_USER_BASIC, tuner = MPI_T_VERBOSITY_TUNER_BASIC,
              developer = MPI_T_VERBOSITY_MPIDEV_BASIC;

constexpr PerformanceVariable performance[] = {
    {"llamada_messages_sent", "Messages sent, contributions to collectives among them.", Category::messages,
     user, counter, counted<Counter::messages_sent>},
    {"llamada_bytes_sent", "Bytes of the messages sent.", Category::messages, user, counter,
     counted<Counter::bytes_sent>},
    {"llamada_messages_received", "Point-to-point messages received.", Category::messages, user, counter,
     counted<Counter::messages_received>},
    {"llamada_bytes_received", "Bytes of the point-to-point messages received.", Category::messages, user,
     counter, counted<Counter::bytes_received>},
    {"llamada_messages_unexpected", "Messages that came before their receive was posted.", Category::messages,
     tuner, counter, counted<Counter::messages_unexpected>},
    {"llamada_unexpected_queue_length", "Messages that wait for a receive now.", Category::messages, tuner,
     level, unexpected_length},
    {"llamada_posted_queue_length", "Posted receives that wait for a message now.", Category::messages, tuner,
     level, posted_length},
    {"llamada_bytes_bulk", "Bytes sent after the match, by way of a small ring.", Category::messages, tuner,
     counter, counted<Counter::bytes_bulk>},
    {"llamada_collectives", "Collective operations of more than one member.", Category::messages, user,
     counter, counted<Counter::collectives>},
    {"llamada_sleeps", "How often the rank went to sleep.", Category::waiting, user, counter,
     counted<Counter::sleeps>},
    {"llamada_wakes", "How often it woke another rank.", Category::waiting, tuner, counter,
     counted<Counter::wakes>},
    {"llamada_would_blocks", "How often a log had no room for what was to be sent.", Category::waiting, tuner,
     counter, counted<Counter::would_blocks>},
    {"llamada_bytes_logged", "Bytes written into the logs, with their heads.", Category::memory, tuner,
     counter, counted<Counter::bytes_logged>},
    {"llamada_bytes_repeated", "Bytes sent that a log had already, and were not written into it again.",
     Category::memory, tuner, counter, counted<Counter::bytes_repeated>},
    {"llamada_log_bytes_used", "Memory that the rank's logs hold now, in bytes.", Category::memory, user,
     level, pool_live},
    {"llamada_log_bytes_touched", "Memory of the logs that was ever used, in bytes.", Category::memory, tuner,
     size, pool_used},
    {"llamada_chunks_allocated", "Pieces of memory that logs took from the system.", Category::memory,
     developer, counter, counted<Counter::allocated_chunks>},
    {"llamada_chunks_recycled", "Pieces of memory that logs used again.", Category::memory, developer,
     counter, counted<Counter::recycled_chunks>},
    {"llamada_replacements", "How often this rank was replaced.", Category::fault_tolerance, user, state,
     replacements},
    {"llamada_is_protected", "1 while a rank that dies can be replaced, else 0.", Category::fault_tolerance,
     user, state, is_protected},
    {"llamada_determinants_recorded", "Outcomes recorded that a replacement could not foretell.",
     Category::fault_tolerance, tuner, counter, counted<Counter::determinants_recorded>},
    {"llamada_bytes_recorded", "Bytes of these records.", Category::fault_tolerance, tuner, counter,
     counted<Counter::bytes_recorded>},
    {"llamada_determinants_replayed", "Recorded outcomes that were repeated.", Category::fault_tolerance,
     tuner, counter, counted<Counter::determinants_replayed>},
    {"llamada_sends_compared", "Sends of a replacement that were compared with its predecessor's.",
     Category::fault_tolerance, tuner, counter, counted<Counter::sends_compared>},
    {"llamada_bytes_compared", "Bytes of these sends.", Category::fault_tolerance, tuner, counter,
     counted<Counter::bytes_compared>},
};

constexpr CategoryDescription category_table[] = {
    {"llamada", "All that the library tells of itself, in the categories below."},
    {"llamada_messages", "Messages and collectives."},
    {"llamada_waiting", "How a rank waits."},
    {"llamada_memory", "The memory of the logs."},
    {"llamada_fault_tolerance", "Protection against the death of ranks, and what it costs."},
};

}  // namespace

std::span<const CategoryDescription> categories() { return category_table; }
std::span<const ControlVariable> control_variables() { return control; }
std::span<const PerformanceVariable> performance_variables() { return performance; }

void apply_settings(Engine& engine) {
  const auto apply = [](TuningId id, const auto& set) {
    if (const auto value = settings.given(id)) set(*value);
  };
  apply(TuningId::eager_bytes_max, [&](std::uint64_t value) { engine.set_eager_bytes_max(value); });
  apply(TuningId::direct_bytes_min, [&](std::uint64_t value) { engine.set_direct_bytes_min(value); });
  apply(TuningId::spin_rounds, [&](std::uint64_t value) { engine.set_spin_rounds(value); });
  apply(TuningId::yields_before_sleep, [&](std::uint64_t value) { engine.set_yields_before_sleep(value); });
}

}  // namespace llamada::mpi::tool_information
