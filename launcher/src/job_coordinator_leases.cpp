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
      return say(fmt::format(
          "mpirun: a debugger (pid {}) is attached to {}; its LIVELINESS lease of {} is suspended "
          "as long as it is.\n",
          message.finding.tracer, name_of(*rank), qos::to_string(lease())));
    case LeaseFinding::Kind::lingering:
      return say(fmt::format(
          "mpirun: {} was killed when its LIVELINESS lease was over, and its process has not ended yet: the "
          "kernel lets it die only when it is thawed or given a processor. The job waits for that.\n",
          name_of(*rank)));
  }
}

}  // namespace llamada::launcher
