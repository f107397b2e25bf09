#include "llamada/waits/report_area.hpp"
#include "p2p/engine.hpp"

// What a rank that waits says of its wait, into its own arena.

namespace llamada::mpi {
namespace {

/// Another number whenever the rank has published or taken anything, in any of its logs.
std::uint64_t activity_of(const log::PeerArena& arena) {
  std::uint64_t activity = 0;
  for (std::uint32_t index = 0; index < arena.log_count(); ++index)
    activity += arena.log(index).published.load(std::memory_order_relaxed);
  for (const auto counter : {log::Counter::messages_sent, log::Counter::messages_received,
                             log::Counter::collectives, log::Counter::bytes_received})
    activity += arena.counter(counter);
  return activity;
}

}  // namespace

void Engine::report_wait(std::uint32_t survey, const Awaits* awaits, std::chrono::nanoseconds since) {
  log::ArenaWriter& arena = world_.arena();
  const log::ArenaHeader& header = arena.header();
  waits::Report report;
  report.survey = survey;
  report.incarnation = world_.incarnation();
  report.call = header.call_id.load(std::memory_order_relaxed);
  report.call_index = header.call_index.load(std::memory_order_relaxed);
  report.activity = activity_of(arena.reading());
  report.since_ns = since.count();
  if (awaits) awaits->describe(report);
  if (report.awaited.empty()) report.add_awaited({});
  report.is_under_way =
      report.is_under_way || outgoing_.is_busy() || !direct_.at_rest() || losses_.awaits_last();
  report.is_replaying = replay_.is_on();
  report.has_other_threads = waiting_.is_shared();
  receiving_.describe(report);
  for (const auto& describe : describe_) describe(report);
  waits::write_report(arena.user_area(), std::move(report));
}

}  // namespace llamada::mpi
