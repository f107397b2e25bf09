#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>

#include "core_file.hpp"
#include "node_supervisor.hpp"
#include "process_tree.hpp"

// How the processes of ranks end, and what is done with those that are left.

namespace llamada::launcher {
namespace {

/// How long what a rank leaves behind (a `tee` behind it, say) may go on after the rank has ended.
constexpr std::chrono::milliseconds linger_max{1000};
/// How long a wrapper script may take to end after the rank within it has died.
constexpr std::chrono::milliseconds wrapper_grace{1000};
/// Between two looks for what a dead rank has left; most are seen by the first.
constexpr std::chrono::milliseconds between_fence_looks{100};

}  // namespace

void NodeSupervisor::reap() {
  int status = 0;
  while (const pid_t pid = waitpid(-1, &status, WNOHANG)) {
    if (pid < 0) break;
    const auto rank = std::find_if(ranks_.begin(), ranks_.end(),
                                   [pid](const RankProcess& each) { return each.root == pid; });
    if (rank != ranks_.end()) {
      pump_arenas();  // what it said before it died, and that it did: while it is still known by its root
      rank->root = 0;
      rank->root_status = status;
      root_ended(*rank);
      continue;
    }
    if (const auto spared = spared_.extract(pid)) {
      spared.mapped()(status);
      continue;
    }
    for (RankProcess& each : ranks_)
      if (!each.standbys.remove(pid) && each.attached == pid) each.attached_status = status;
  }
  for (RankProcess& rank : ranks_) {
    if (rank.attached_status && rank.attached_alive) attached_ended(rank);
    if (rank.phase == ProcessPhase::fencing) look_at_fence(rank);
  }
}

/// The rank within a wrapper script has died: the script's end says of what, if it ends soon.
void NodeSupervisor::attached_ended(RankProcess& rank) {
  rank.attached_alive = false;
  if (rank.attached == rank.root || rank.phase != ProcessPhase::running) return;
  if (rank.root == 0) {
    int status = 0;
    if (!rank.attached_status && waitpid(rank.attached, &status, WNOHANG) == rank.attached)
      rank.attached_status = status;
    return tell_end(rank);
  }
  if (view_of(rank).state == RankState::finalized || ending_) return;
  loop_.cancel(rank.timer);
  rank.timer =
      loop_.after(wrapper_grace, [this, slot = rank.slot, life = rank.life, incarnation = rank.incarnation] {
        const RankProcess& late = ranks_[slot];
        if (late.phase == ProcessPhase::running && late.life == life && late.incarnation == incarnation)
          kill_processes_of(late);
      });
}

void NodeSupervisor::root_ended(RankProcess& rank) {
  if (rank.phase != ProcessPhase::running) return;
  if (rank.attached == rank.group) rank.attached_alive = false;
  // A wrapper that left the rank behind: the rank's own end counts.
  if (rank.attached_alive && WIFEXITED(rank.root_status) && !ending_) return;
  tell_end(rank);
}

void NodeSupervisor::tell_end(RankProcess& rank) {
  rank.phase = ProcessPhase::ended;
  if (adopted_) adopted_->let_go(rank.slot);
  loop_.cancel(rank.timer);
  const RankView seen = arenas_->view(rank.slot);
  if (seen.damaged || seen.incarnation > rank.incarnation)
    arena_damaged(rank, rank.slot, "its header contains impossible values");
  read_all_output(rank, 1);
  node::Ended end;
  end.slot = rank.slot;
  end.pid = rank.pid();
  end.root_status = rank.root_status;
  end.attached_status = rank.attached_status;
  end.is_adopted = is_adopted(rank);
  end.behind_wrapper = rank.attached != 0 && rank.attached != rank.group;
  end.view = view_of(rank);
  end.others_in_mpi = std::any_of(ranks_.begin(), ranks_.end(), [&](const RankProcess& other) {
    return other.slot != rank.slot && is_in_mpi(other);
  });
  end.core_file = core_of(rank);
  end.oom_kills = memory_group_.oom_kills() - oom_kills_before_;  // the kernel counts before it kills
  const auto limit = memory_group_.limit_bytes();
  end.memory_of = limit ? fmt::format("its control group (limit {} MiB)", *limit >> 20) : "the machine";
  tell_(std::move(end));
}

std::string NodeSupervisor::core_of(const RankProcess& rank) const {
  const int status = rank.attached_status.value_or(rank.root_status);
  if (!WIFSIGNALED(status) || !WCOREDUMP(status)) return {};
  CoreOwner owner;
  owner.pid = rank.pid();
  owner.signal = WTERMSIG(status);
  owner.host = host_;
  owner.program = rank.program;
  owner.directory = rank.working_directory;
  owner.age = RankProcess::TimePoint::clock::now() - rank.started_at;
  return find_core_file(owner);
}

/// Whether a rank that has ended may have left processes: its group has members, or we have children, handed
/// on to us by the kernel, that we have not started. Most ranks leave none, and reading all of /proc takes
/// long.
bool NodeSupervisor::may_have_processes(const RankProcess& rank) const {
  if (rank.root != 0 || rank.group <= 0 || kill(-rank.group, 0) == 0 || errno != ESRCH) return true;
  const auto children = own_children();
  if (!children) return true;
  std::size_t started = 0;
  for (const RankProcess& other : ranks_) started += (other.root > 0 ? 1 : 0) + other.standbys.count();
  return children->size() > started;
}

/// What the rank has started, and what that has: known by its process group, by its environment, or by its
/// parent.
std::vector<pid_t> NodeSupervisor::processes_of(const RankProcess& rank) const {
  const std::string number = std::to_string(rank.slot), token = std::to_string(rank.token);
  const auto is_marked = [&](pid_t pid) {
    return variable_of(pid, "LLAMADA_RANK") == number && variable_of(pid, "LLAMADA_TOKEN") == token;
  };
  std::vector<pid_t> living;
  if (!may_have_processes(rank)) return living;
  std::set<pid_t> family;
  for (const ProcessEntry& entry : descendants_of(getpid())) {
    if (is_standby(entry.pid)) continue;
    if (entry.group != rank.group && !family.contains(entry.parent) && !is_marked(entry.pid)) continue;
    family.insert(entry.pid);
    if (entry.state != 'Z' && entry.state != 'X') living.push_back(entry.pid);
  }
  return living;
}

bool NodeSupervisor::kill_processes_of(const RankProcess& rank) const {
  const std::vector<pid_t> pids = processes_of(rank);
  for (const pid_t pid : pids) kill(pid, SIGKILL);
  if (adopted_) adopted_->signal(rank.slot, SIGKILL);
  return !pids.empty();
}

/// Called again whenever a process below us ends, when a pipe does, and now and then: a process that is just
/// executing a program has no environment to be known by, so one look may miss it.
void NodeSupervisor::look_at_fence(RankProcess& rank) {
  const bool found_some = kill_processes_of(rank);
  if (found_some || !rank.drained()) {
    // Once all writers are gone the pipes have an end, which must have been read.
    loop_.cancel(rank.timer);
    rank.timer = loop_.after(between_fence_looks, [this, slot = rank.slot, life = rank.life] {
      RankProcess& late = ranks_[slot];
      if (late.phase == ProcessPhase::fencing && late.life == life) look_at_fence(late);
    });
    return;
  }
  loop_.cancel(rank.timer);
  rank.phase = ProcessPhase::fenced;
  tell_(node::Fenced{rank.slot});
}

void NodeSupervisor::begin_draining(RankProcess& rank) {
  rank.phase = ProcessPhase::draining;
  drop_standbys(rank);
  if (rank.slot == 0) input_.close();
  if (ending_) kill_processes_of(rank);
  if (rank.drained()) return look_at_draining(rank);
  loop_.after(linger_max, [this, slot = rank.slot, life = rank.life] { stop_lingering(slot, life, 1); });
}

void NodeSupervisor::stop_lingering(std::uint32_t slot, std::uint64_t life, int round) {
  RankProcess& rank = ranks_[slot];
  if (rank.phase != ProcessPhase::draining || rank.life != life) return;
  kill_processes_of(rank);
  if (round == 1) {
    loop_.after(linger_max, [this, slot, life] { stop_lingering(slot, life, 2); });
    return;
  }
  // Who still holds the pipes has hidden itself well.
  drop_output(rank);
  look_at_draining(rank);
}

void NodeSupervisor::look_at_draining(RankProcess& rank) {
  if (rank.phase != ProcessPhase::draining || !rank.drained()) return;
  rank.phase = ProcessPhase::finished;
  const RankView view = arenas_->view(rank.slot);
  arenas_->set_done(rank.slot);
  tell_(node::Done{rank.slot, view, links_.node, arenas_->driver_drops()});
}

}  // namespace llamada::launcher
