#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <utility>

#include "node_supervisor.hpp"
#include "rank_streams.hpp"

// Parked copies of ranks' processes (mpi-facade/src/standby), from which replacements go on.

namespace llamada::launcher {
namespace {

/// A child of ours that lives: nobody else has its number until we reap it.
bool is_living_child(pid_t pid) {
  siginfo_t information{};
  return waitid(P_PID, static_cast<id_t>(pid), &information, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         information.si_pid == 0;
}

}  // namespace

void NodeSupervisor::parked(RankProcess& rank, const ParkedCopy& copy) {
  if (!is_living_child(copy.pid)) return;
  // One that comes after the rank's end comes too late.
  if (rank.phase != ProcessPhase::running || ending_) {
    kill(copy.pid, SIGKILL);
    return;
  }
  for (const pid_t old : rank.standbys.add(copy)) kill(old, SIGKILL);
}

/// False: there is none.
bool NodeSupervisor::wake_standby(RankProcess& rank, const node::RankStart& start, RankStreams& streams) {
  rank.standbys.begin();
  if (start.incarnation == 1) return false;
  auto copy = rank.standbys.take();
  while (copy && !is_living_child(copy->pid)) copy = rank.standbys.take();
  if (!copy) return false;
  arenas_->wake(copy->number,
                {std::move(streams.input), std::move(streams.output), std::move(streams.error)});
  rank.root = rank.group = copy->pid;
  rank.phase = ProcessPhase::running;
  rank.started_at = RankProcess::TimePoint::clock::now();
  tell_(node::Started{rank.slot, rank.root});
  return true;
}

void NodeSupervisor::drop_standbys(RankProcess& rank) {
  for (const pid_t pid : rank.standbys.take_all()) kill(pid, SIGKILL);
}

void NodeSupervisor::refuse_standbys(RankProcess& rank) {
  for (const pid_t pid : rank.standbys.refuse()) kill(pid, SIGKILL);
}

bool NodeSupervisor::is_standby(pid_t pid) const {
  return std::ranges::any_of(ranks_, [pid](const RankProcess& rank) { return rank.standbys.has(pid); });
}

}  // namespace llamada::launcher
