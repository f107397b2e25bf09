#include <utility>

#include "life_sign.hpp"
#include "node_supervisor.hpp"

// Whether the ranks' processes show signs of life, where the profile's LIVELINESS has a lease.

namespace llamada::launcher {

void NodeSupervisor::begin_leases(const qos::Liveliness& policy) {
  if (policy.lease_duration == qos::duration_infinite) return;
  leases_ = std::make_unique<Leases>(policy);
  loop_.after(leases_->look_interval(), [this] { look_at_leases(); });
}

void NodeSupervisor::look_at_leases() {
  if (ending_) return;
  loop_.after(leases_->look_interval(), [this] { look_at_leases(); });
  // A rank whose output nobody takes waits for mpirun, so it is held, too.
  leases_->begin_look(Leases::TimePoint::clock::now(),
                      leases_held_ || output_held_ || is_frozen_ || is_stopped(mpirun_));
  for (const RankProcess& rank : ranks_) {
    if (rank.phase != ProcessPhase::running) continue;
    const auto sign = life_sign(rank);
    if (!sign) continue;
    if (const auto finding = leases_->see(rank.slot, *sign))
      tell_(node::LeaseFound{rank.slot, rank.incarnation, *finding});
  }
}

/// The process that is the rank in MPI, or, before it has attached, the one that was started.
std::optional<LifeSign> NodeSupervisor::life_sign(const RankProcess& rank) const {
  auto sign = life_sign_of(rank.attached_alive ? rank.attached : rank.root);
  if (!sign || !rank.attached_alive) return sign;
  const RankView view = view_of(rank);
  sign->outside_mpi = view.state == RankState::in_program && view.call.empty();
  sign->call_index = view.call_index;
  return sign;
}

void NodeSupervisor::on(node::KillRank&& message) {
  const RankProcess* rank = rank_at(message.slot);
  if (rank && rank->phase == ProcessPhase::running) kill_processes_of(*rank);
}

void NodeSupervisor::on(node::HoldLeases&& message) { leases_held_ = message.hold; }

void NodeSupervisor::freeze(bool is_frozen) {
  is_frozen_ = is_frozen;
  if (!is_frozen_ && leases_held_) return;
  const int number = is_frozen_ ? SIGSTOP : SIGCONT;
  // What a process starts while it is looked for is found by the second look.
  signal_descendants(number);
  signal_descendants(number);
  if (adopted_) adopted_->signal_all(number);
}

}  // namespace llamada::launcher
