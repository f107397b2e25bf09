#include <fmt/format.h>

#include <utility>

#include "node_supervisor.hpp"

// Ranks that another launcher has started (srun, by PMI-1), and that have come here by themselves.

namespace llamada::launcher {

void NodeSupervisor::adopt(Adoption adoption) {
  adopted_ = std::make_unique<AdoptedRanks>(
      loop_, std::move(adoption),
      AdoptedRanks::Actions{[this](std::uint32_t slot) { adopted_ended(slot); },
                            [this] { manager_ended(); }});
}

/// Instead of start(): the process waits until it may attach.
void NodeSupervisor::take_in(RankProcess& rank, const node::RankStart& start) {
  rank.group = adopted_->process_of(rank.slot);
  rank.phase = ProcessPhase::running;
  rank.program = start.program;
  rank.started_at = RankProcess::TimePoint::clock::now();
  tell_(node::Started{rank.slot, rank.group});
}

void NodeSupervisor::report_places(const std::vector<node::RankStart>& starts) const {
  std::string line = arenas_->address();
  for (const node::RankStart& start : starts) line += fmt::format(";{}", start.token);
  adopted_->report(line);
}

/// Before it has attached, or as the driver sees it, too.
void NodeSupervisor::adopted_ended(std::uint32_t slot) {
  if (arenas_) pump_arenas();  // what it said before
  RankProcess* const rank = rank_at(slot);
  if (!rank || rank->phase == ProcessPhase::none)
    return tell_(node::NodeFailed{fmt::format("rank {} has ended before all ranks were in MPI_Init", slot)});
  if (rank->phase != ProcessPhase::running) return;
  rank->attached_alive = false;
  tell_end(*rank);
}

/// A rank that has left the job hangs up on it.
void NodeSupervisor::manager_ended() {
  if (arenas_) pump_arenas();
  const RankProcess* const rank = rank_at(adopted_->first());
  const bool has_left = rank && rank->phase > ProcessPhase::running;
  if (ending_ || has_left) return;
  tell_(node::NodeFailed{"the process manager that has started the ranks there (slurmstepd) has ended"});
}

}  // namespace llamada::launcher
