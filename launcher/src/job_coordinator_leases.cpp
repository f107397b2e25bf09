#include "job_coordinator.hpp"

// What follows when a rank shows no sign of life.

namespace llamada::launcher {

void JobCoordinator::on(node::LeaseFound&& message) {
  JobRank* const rank = rank_at(message.slot);
  if (!rank || rank->incarnation != message.incarnation || rank->phase != RankPhase::running || ending_code_)
    return;
  switch (message.finding.kind) {
    case LeaseFinding::Kind::over:
      rank->lease_over = message.finding;
      return tell_node_(node::KillRank{rank->slot});
    case LeaseFinding::Kind::debugger:
      return say(
          fmt::format("mpirun: a debugger (pid {}) is attached to {}; the rank's LIVELINESS lease of {} is "
                      "suspended until the debugger detaches.\n",
                      message.finding.tracer, name_of(*rank), qos::to_string(lease())));
    case LeaseFinding::Kind::lingering:
      return say(fmt::format(
          "mpirun: {} was killed because its LIVELINESS lease expired, but its process has not ended yet: it "
          "can end only when it is thawed or given a processor. The job waits for that.\n",
          name_of(*rank)));
  }
}

}  // namespace llamada::launcher
