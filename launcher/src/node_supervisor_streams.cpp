#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "node_supervisor.hpp"
#include "other_mpi.hpp"
#include "process_tree.hpp"

// What the arenas and the pipes of the ranks tell.

namespace llamada::launcher {
namespace {

/// How soon after a rank has attached its files are looked at again, and how rarely later.
constexpr std::chrono::milliseconds code_look_min{100};
constexpr std::chrono::milliseconds code_look_max{5000};

}  // namespace

void NodeSupervisor::pump_arenas() {
  auto events = arenas_->do_work();
  if (!events) return tell_(node::NodeFailed{events.error().text()});
  for (const ArenaEvent& event : *events) take_event(event);
}

void NodeSupervisor::take_event(const ArenaEvent& event) {
  if (event.kind == ArenaEventKind::inject) return tell_(node::InjectWanted{event.inject_number, event.text});
  if (event.kind == ArenaEventKind::probed) return tell_(node::Probed{event.probe});
  RankProcess* const rank = rank_at(event.rank);
  if (!rank) return;
  switch (event.kind) {
    case ArenaEventKind::attached:
      return attached(*rank, static_cast<pid_t>(event.code));
    case ArenaEventKind::died:
      return attached_ended(*rank);
    case ArenaEventKind::live:
      look_at_code(*rank);
      return tell_(node::Live{rank->slot, view_of(*rank)});
    case ArenaEventKind::damaged:
      return arena_damaged(*rank, static_cast<std::uint32_t>(event.code), event.text);
    case ArenaEventKind::reach:
      return replay_reached(*rank, event.reach);
    case ArenaEventKind::spawn:
      return tell_(node::SpawnWanted{rank->slot, event.spawn});
    case ArenaEventKind::shared:
      return tell_(node::SharedWanted{rank->slot, event.shared});
    case ArenaEventKind::agree:
      return tell_(node::AgreementWanted{rank->slot, event.agreement});
    case ArenaEventKind::parked:
      return parked(*rank, event.parked);
    case ArenaEventKind::diverged:
      look_at_code(*rank);  // a changed file is the cause, and is told as such
      break;
    case ArenaEventKind::note:
    case ArenaEventKind::finalized:
    case ArenaEventKind::warning:
    case ArenaEventKind::unprotected:
    case ArenaEventKind::aborted:
    case ArenaEventKind::inject:
    case ArenaEventKind::probed:
      break;
  }
  tell_(node::Said{rank->slot, event.kind, event.code, event.text});
}

void NodeSupervisor::attached(RankProcess& rank, pid_t pid) {
  rank.attached = pid;
  rank.attached_alive = true;
  rank.attached_status.reset();
  tell_(node::Attached{rank.slot, pid});
  look_at_code(rank);
  look_at_code_later(rank, code_look_min);
}

void NodeSupervisor::arena_damaged(const RankProcess& finder, std::uint32_t slot, const std::string& what) {
  RankProcess* const culprit = rank_at(slot);
  if (ending_ || !culprit) return;
  if (culprit->root > 0) kill_processes_of(*culprit);
  tell_(node::Damaged{slot, finder.slot, what});
}

/// A replacement waits at this place of its replay.
void NodeSupervisor::replay_reached(RankProcess& rank, const ReachQuestion& question) {
  if (question.place == ReplayPlace::unusable && question.checkpoint == 0) refuse_standbys(rank);
  read_all_output(rank, 0);
  if (question.place == ReplayPlace::output || question.place == ReplayPlace::restored)
    read_all_output(rank, 1);
  tell_(node::Reached{rank.slot, question.place, question.is_single && !ending_ && writes_alone(rank),
                      question.number, question.checkpoint, question.written});
}

void NodeSupervisor::read_output(std::uint32_t slot, int stream) {
  RankProcess& rank = ranks_[slot];
  char bytes[control::part_size_bytes_max];
  const ssize_t count = read(rank.pipes[stream].get(), bytes, sizeof bytes);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count > 0) {
    look_at_libraries(rank);
    return tell_(control::Output{
        slot, static_cast<std::uint8_t>(stream + 1), {bytes, static_cast<std::size_t>(count)}});
  }
  loop_.forget(rank.pipes[stream].get());
  rank.pipes[stream].reset();
  look_at_draining(rank);
  if (rank.phase == ProcessPhase::fencing) look_at_fence(rank);
}

/// What the pipe has now.
void NodeSupervisor::read_all_output(const RankProcess& rank, int stream) {
  constexpr int reads_max = 64;
  for (int i = 0; i < reads_max && rank.pipes[stream]; ++i) {
    pollfd one{rank.pipes[stream].get(), POLLIN, 0};
    if (poll(&one, 1, 0) != 1) return;
    read_output(rank.slot, stream);
  }
}

void NodeSupervisor::drop_output(RankProcess& rank) {
  for (FileDescriptor& pipe : rank.pipes) {
    if (!pipe) continue;
    loop_.forget(pipe.get());
    pipe.reset();
  }
}

/// Whether nobody writes beside the rank: its wrapper scripts wait for it.
bool NodeSupervisor::writes_alone(const RankProcess& rank) const {
  const pid_t self = rank.attached != 0 ? rank.attached : rank.root;
  const auto family = processes_of(rank);
  const auto ancestors = ancestors_of(self);
  return std::all_of(family.begin(), family.end(), [&](pid_t pid) {
    return pid == self || std::find(ancestors.begin(), ancestors.end(), pid) != ancestors.end();
  });
}

/// A program that opens its MPI library by itself (Python) is seen only while it runs: at its first output.
void NodeSupervisor::look_at_libraries(const RankProcess& rank) {
  if (rank.slot != 0 || rank.attached != 0 || ranks_.size() == 1) return;
  if (std::exchange(told_.libraries, true)) return;
  if (std::string library = other_mpi_of_process(rank.root); !library.empty())
    tell_(node::OtherMpi{std::move(library)});
}

/// A replacement whose program or library is another file than its predecessor's would give an answer that is
/// neither's.
void NodeSupervisor::look_at_code(RankProcess& rank) {
  if (!rebuilding_ || !rank.attached_alive || ending_) return;
  const MappedCode now_mapped = MappedCode::of(rank.attached);
  if (const auto path = rank.code.changed_in(now_mapped)) return tell_(node::CodeChanged{rank.slot, *path});
  rank.code.add(now_mapped);
  if (code_mapped_.is_on) tell_code(rank);
}

/// What a rank that starts again elsewhere, or later, must find.
void NodeSupervisor::tell_code(const RankProcess& rank) {
  std::vector<std::string> lines;
  for (const std::string& path : rank.code.paths())
    if (code_mapped_.paths.insert(path).second)
      if (auto line = describe_code(path)) lines.push_back(std::move(*line));
  if (!lines.empty()) tell_(node::CodeMapped{rank.slot, std::move(lines)});
}

void NodeSupervisor::on(node::RestoreJournal&& message) {
  if (auto status = arenas_->restore_journal(message.piece); !status)
    tell_(node::NodeFailed{fmt::format("what rank {} had recorded cannot be restored: {}", message.piece.rank,
                                       status.error().text())});
}

void NodeSupervisor::on(node::MakeCut&& message) {
  auto pieces = arenas_->make_cut(message.next_cut);
  if (pieces) return tell_(node::Cut{std::move(*pieces), {}});
  tell_(node::Cut{{}, pieces.error().text()});
}

/// Libraries that the program opens by dlopen() are seen some time later.
void NodeSupervisor::look_at_code_later(const RankProcess& looked_at, std::chrono::milliseconds delay) {
  if (!rebuilding_) return;
  loop_.after(delay, [this, slot = looked_at.slot, delay, life = looked_at.life,
                      incarnation = looked_at.incarnation] {
    RankProcess& rank = ranks_[slot];
    if (rank.life != life || rank.incarnation != incarnation || !rank.attached_alive) return;
    look_at_code(rank);
    look_at_code_later(rank, std::min(2 * delay, code_look_max));
  });
}

}  // namespace llamada::launcher
