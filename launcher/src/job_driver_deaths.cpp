#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>

#include "classification.hpp"
#include "core_file.hpp"
#include "death_text.hpp"
#include "job_driver_class.hpp"
#include "llamada/launcher/exit_codes.hpp"
#include "llamada/log/arena_layout.hpp"
#include "process_tree.hpp"

namespace llamada::launcher {
namespace {

/// How long what a rank leaves behind (a `tee` behind it, say) may go on after the rank has ended.
constexpr std::chrono::milliseconds linger_max{1000};
/// How long a wrapper script may take to end after the rank within it has died.
constexpr std::chrono::milliseconds wrapper_grace{1000};

double seconds(std::chrono::nanoseconds duration) { return std::chrono::duration<double>(duration).count(); }

RankProcess::TimePoint now() { return RankProcess::TimePoint::clock::now(); }

/// How soon after a rank has attached its files are looked at again, and how rarely later.
constexpr std::chrono::milliseconds code_look_min{100};
constexpr std::chrono::milliseconds code_look_max{5000};

/// How soon after a rank has left without MPI it is seen that others wait for it there.
constexpr std::chrono::milliseconds deserter_look{100};

}  // namespace

RankView JobDriver::view_of(const RankProcess& rank) const {
  RankView view = arenas_->view(rank.rank);
  if (view.incarnation == rank.incarnation && rank.attached != 0) return view;
  // What the arena says is still of the predecessor.
  view.state = RankState::none;
  view.call.clear();
  view.call_index = 0;
  view.replaying = false;
  return view;
}

void JobDriver::reap() {
  int status = 0;
  while (const pid_t pid = waitpid(-1, &status, WNOHANG)) {
    if (pid < 0) break;
    if (RankProcess* rank = rank_of_root(pid)) {
      pump_arenas();  // what it said before it died, and that it did: while it is still known by its root
      rank->root = 0;
      rank->root_status = status;
      root_ended(*rank);
      continue;
    }
    for (RankProcess& rank : ranks_)
      if (rank.attached == pid) rank.attached_status = status;
  }
  for (RankProcess& rank : ranks_) {
    if (rank.attached_status && rank.attached_alive) attached_ended(rank);
    if (rank.phase == RankPhase::fencing) look_at_fence(rank);
  }
}

void JobDriver::pump_arenas() {
  auto events = arenas_->do_work();
  if (!events)
    return begin_ending(exit_launcher, fmt::format("mpirun: {}; the job is ended.\n", events.error().text()));
  for (const ArenaEvent& event : *events) take_event(event);
}

void JobDriver::take_event(const ArenaEvent& event) {
  if (event.rank >= ranks_.size()) return;
  RankProcess& rank = ranks_[event.rank];
  const auto line = [&] { return fmt::format("mpirun: {}: {}\n", name_of(rank), event.text); };
  switch (event.kind) {
    case ArenaEventKind::attached:
      rank.attached = static_cast<pid_t>(event.code);
      rank.attached_alive = true;
      rank.attached_status.reset();
      if (rank.first_attached == 0) rank.first_attached = rank.attached;
      look_at_code(rank);
      look_at_code_later(rank.rank, code_look_min);
      break;
    case ArenaEventKind::died:
      attached_ended(rank);
      break;
    case ArenaEventKind::note:
      if (job_.verbose) say(line());
      break;
    case ArenaEventKind::warning:
      say(line());
      break;
    case ArenaEventKind::live:
      rank_is_live(rank);
      break;
    case ArenaEventKind::unprotected:
      histories_lost(rank, event.text);
      break;
    case ArenaEventKind::diverged:
      look_at_code(rank);  // a changed library is the cause, and is told as such
      if (!ending_code_)
        begin_ending(exit_diverged,
                     event.text.starts_with("replay diverged")
                         ? fmt::format("mpirun: {}\n", event.text)
                         : fmt::format("mpirun: replay diverged: {}: {}\n", name_of(rank), event.text));
      break;
    case ArenaEventKind::damaged:
      arena_damaged(rank, event);
      break;
    case ArenaEventKind::reach:
      replay_reached(rank, event.reach);
      break;
    case ArenaEventKind::spawn:
      // Not now: whoever called this may be in the midst of the ranks.
      loop_.after(std::chrono::nanoseconds(0),
                  [this, parent = rank.rank, question = event.spawn] { spawn_world(parent, question); });
      break;
    case ArenaEventKind::aborted:
      rank.aborted = true;
      rank.abort_code = event.code;
      if (ending_code_) break;
      begin_ending(code_of_abort(event.code),
                   event.text.empty()
                       ? fmt::format("mpirun: {} called MPI_Abort with code {}.\n", name_of(rank), event.code)
                       : line());
      break;
  }
}

/// A replacement would take over the same arena, with what the rank has sent and what it was told: nothing
/// can follow from that any more.
void JobDriver::arena_damaged(const RankProcess& finder, const ArenaEvent& event) {
  const auto number = static_cast<std::uint32_t>(event.code);
  if (ending_code_ || number >= ranks_.size()) return;
  RankProcess& culprit = ranks_[number];
  const std::string found =
      culprit.rank == finder.rank ? std::string() : fmt::format("; {} found that", name_of(finder));
  const char* const no_replacement =
      rebuilding() ? "A replacement would take over the same arena, so the rank cannot be replaced.\n" : "";
  if (culprit.root > 0) kill_processes_of(culprit);
  begin_ending(exit_damaged,
               fmt::format("mpirun: the arena of {} is damaged ({}{}): a wild pointer of the program in {} "
                           "has written over memory of the MPI library; the job is ended.\n{}",
                           name_of(culprit), event.text, found, name_of(culprit), no_replacement));
}

/// `why` is empty when the memory for histories is used up; else what a rank said.
void JobDriver::histories_lost(const RankProcess& rank, const std::string& why) {
  if (unprotected_ || ending_code_) return;
  unprotected_ = true;
  arenas_->set_unprotected();
  unprotected_because_ =
      why.empty() ? fmt::format("log_bytes_per_node of the profile '{}' ({}) is used up", job_.profile_label,
                                qos::bytes_to_string(profile_.rank_replacement.log_bytes_per_node))
                  : fmt::format("rank {}: {}", rank.rank, why);
  const std::string what = fmt::format("mpirun: {}: ", unprotected_because_);
  if (profile_.rank_replacement.on_unprotected == qos::OnUnprotected::stop)
    return begin_ending(exit_unprotected, what + "the job is ended, because on_unprotected is STOP.\n");
  say(what +
      "the job goes on, but a rank that dies from now on cannot be replaced (on_unprotected CONTINUE).\n");
}

/// The rank within a wrapper script has died: the script's end says of what, if it ends soon.
void JobDriver::attached_ended(RankProcess& rank) {
  rank.attached_alive = false;
  if (rank.attached == rank.root || rank.phase != RankPhase::running) return;
  const std::uint32_t number = rank.rank;
  if (rank.root == 0) {
    int status = 0;
    if (!rank.attached_status && waitpid(rank.attached, &status, WNOHANG) == rank.attached)
      rank.attached_status = status;
    return judge_rank(rank);
  }
  const RankState state = view_of(rank).state;
  if (state == RankState::finalized || ending_code_) return;
  loop_.cancel(rank.timer);
  rank.timer = loop_.after(wrapper_grace, [this, number, incarnation = rank.incarnation] {
    RankProcess& late = ranks_[number];
    if (late.phase == RankPhase::running && late.incarnation == incarnation) kill_processes_of(late);
  });
}

void JobDriver::root_ended(RankProcess& rank) {
  if (rank.phase != RankPhase::running) return;
  const bool root_was_attached = rank.attached == rank.group;
  if (root_was_attached) rank.attached_alive = false;
  // A wrapper that left the rank behind: the rank's own end counts.
  if (rank.attached_alive && WIFEXITED(rank.root_status) && !ending_code_) return;
  judge_rank(rank);
}

DeathFacts JobDriver::facts_of(const RankProcess& rank, const RankView& view) const {
  DeathFacts facts;
  facts.state = view.state;
  facts.arena_exit_code = view.exit_code;
  facts.aborted = rank.aborted;
  facts.abort_code = rank.abort_code;
  facts.call_index = view.call_index;
  facts.behind_wrapper = rank.attached != 0 && rank.attached != rank.group;
  const int status = rank.attached_status.value_or(rank.root_status);
  if (WIFSIGNALED(status)) facts.signal = WTERMSIG(status);
  if (WIFEXITED(status)) facts.exit_code = WEXITSTATUS(status);
  // A process that exits says so in its arena. The exit code is its wrapper's, which may be any: setsid -w
  // and gdb end with codes of their own when the program below them is killed.
  facts.lost =
      facts.behind_wrapper && !rank.attached_status && view.state == RankState::in_program && !facts.signal;
  facts.others_in_mpi = std::any_of(ranks_.begin(), ranks_.end(), [&](const RankProcess& other) {
    return other.rank != rank.rank && other.phase == RankPhase::running &&
           view_of(other).state == RankState::in_program;
  });
  return facts;
}

DeathRecord JobDriver::record_of(const RankProcess& rank, const RankView& view,
                                 const Judgement& judgement) const {
  DeathRecord record;
  record.rank = rank.rank;
  record.world = rank.world;
  record.name = name_of(rank);
  record.incarnation = rank.incarnation;
  record.pid = rank.attached != 0 ? rank.attached : rank.group;
  record.signal = judgement.signal;
  if (!judgement.signal) record.exit_code = judgement.exit_code;
  record.mpi_call = view.call;
  record.call_index = view.call_index;
  record.state = view.state;
  record.replaying = rank.open_death.has_value();
  record.sent_before = view.counters[static_cast<std::size_t>(log::Counter::messages_sent)] > 0;
  record.replaced = judgement.verdict == Verdict::replace;
  record.last_errors = rank.errors.lines();
  record.core_file = core_of(rank);
  return record;
}

std::string JobDriver::core_of(const RankProcess& rank) const {
  const int status = rank.attached_status.value_or(rank.root_status);
  if (!WIFSIGNALED(status) || !WCOREDUMP(status)) return {};
  CoreOwner owner;
  owner.pid = rank.attached != 0 ? rank.attached : rank.group;
  owner.signal = WTERMSIG(status);
  owner.host = host_;
  owner.program = command_of(rank).program;
  owner.directory = command_of(rank).working_directory;
  owner.age = now() - rank.started_at;
  return find_core_file(owner);
}

/// Of whose memory the kernel said that it is used up, if that is what killed a rank. The kernel counts
/// before it kills.
std::optional<std::string> JobDriver::memory_used_up(const Judgement& judgement) {
  if (judgement.signal != SIGKILL || memory_group_.oom_kills() <= oom_kills_told_) return std::nullopt;
  ++oom_kills_told_;
  const auto limit = memory_group_.limit_bytes();
  if (!limit) return "the machine";
  return fmt::format("its control group (limit {} MiB)", *limit >> 20);
}

void JobDriver::judge_rank(RankProcess& rank) {
  if (rank.discarded) return begin_draining(rank);
  const RankView seen = arenas_->view(rank.rank);
  if (seen.damaged || seen.incarnation > rank.incarnation)
    arena_damaged(rank, {ArenaEventKind::damaged,
                         rank.rank,
                         static_cast<std::int32_t>(rank.rank),
                         "its header has words that cannot be",
                         {}});
  const RankView view = view_of(rank);
  DeathHistory history;
  history.replacements_of_rank = rank.replacements;
  history.replacements_of_job = report_.replacements;
  history.fault_call_index = rank.fault_call_index;
  history.unreplaceable = unprotected_ || (input_lost_ && rank.rank == 0);
  history.job_ending = ending_code_.has_value();
  history.user_signals = user_signals_;
  const DeathFacts facts = facts_of(rank, view);
  const Judgement judgement = judge(facts, history, profile_.rank_replacement);
  rank.died_at = now();
  rank.calls = std::max(rank.calls, view.call_index);
  loop_.cancel(rank.timer);
  if (judgement.verdict != Verdict::done && judgement.verdict != Verdict::swept_away) {
    read_last_errors(rank);
    DeathRecord record = record_of(rank, view, judgement);
    if (const auto ago = injector_->rank_died(record))
      record.detected_after_s = seconds(*ago);
    else
      record.memory_used_up = memory_used_up(judgement);
    const DeathContext context{world_of(rank).count, host_,
                               job_.profile_label,   &profile_.rank_replacement,
                               rank.replacements,    unprotected_because_};
    say(describe_death(record, judgement, context));
    report_.deaths.push_back(record);
  }
  rank.open_death.reset();
  rank.fault_call_index.reset();
  if (judgement.signal && is_fault(*judgement.signal)) rank.fault_call_index = facts.call_index;
  const bool had_mpi = view.state == RankState::finalized;
  act_on(rank, judgement);
  if (!had_mpi && judgement.verdict <= Verdict::failed) look_for_deserters_later();
}

void JobDriver::look_for_deserters_later() {
  if (std::exchange(will_look_for_deserters_, true)) return;
  loop_.after(deserter_look, [this] {
    will_look_for_deserters_ = false;
    look_for_deserters();
  });
}

/// A rank that has ended without MPI, while others go on to MPI and wait for it, ends the job.
void JobDriver::look_for_deserters() {
  if (ending_code_ || finished_) return;
  const auto is_in_mpi = [this](const RankProcess& rank) {
    return rank.phase == RankPhase::running && view_of(rank).state == RankState::in_program;
  };
  if (std::any_of(ranks_.begin(), ranks_.end(), is_in_mpi))
    return begin_ending(
        first_failure_ == 0 ? 1 : first_failure_,
        "mpirun: a rank ended without MPI_Init, and others are in MPI, where they would wait for it; "
        "the job is ended.\n");
  const bool some_run = std::any_of(ranks_.begin(), ranks_.end(),
                                    [](const RankProcess& rank) { return rank.phase == RankPhase::running; });
  if (some_run) look_for_deserters_later();
}

void JobDriver::act_on(RankProcess& rank, const Judgement& judgement) {
  switch (judgement.verdict) {
    case Verdict::done:
      return begin_draining(rank);
    case Verdict::replace:
      return begin_fence(rank);
    case Verdict::failed:
      if (first_failure_ == 0) first_failure_ = judgement.exit_code;
      return begin_draining(rank);
    case Verdict::swept_away:
      return begin_draining(rank);
    default:
      break;
  }
  begin_draining(rank);
  begin_ending(judgement.exit_code, {});
}

/// Whether a rank that has ended may have left processes: its group has members, or we have children, handed
/// on to us by the kernel, that we have not started. Most ranks leave none, and reading all of /proc takes
/// long.
bool JobDriver::may_have_processes(const RankProcess& rank) const {
  if (rank.root != 0 || rank.group <= 0 || kill(-rank.group, 0) == 0 || errno != ESRCH) return true;
  const auto children = own_children();
  if (!children) return true;
  std::size_t started = 0;
  for (const RankProcess& other : ranks_)
    if (other.root > 0) ++started;
  return children->size() > started;
}

/// What the rank has started, and what that has: known by its process group, by its environment, or by its
/// parent.
std::vector<pid_t> JobDriver::processes_of(const RankProcess& rank) const {
  const std::string number = std::to_string(rank.rank), token = std::to_string(token_of(rank));
  const auto is_marked = [&](pid_t pid) {
    return variable_of(pid, "LLAMADA_RANK") == number && variable_of(pid, "LLAMADA_TOKEN") == token;
  };
  std::vector<pid_t> living;
  if (!may_have_processes(rank)) return living;
  std::set<pid_t> family;
  for (const ProcessEntry& entry : descendants_of(getpid())) {
    if (entry.group != rank.group && !family.contains(entry.parent) && !is_marked(entry.pid)) continue;
    family.insert(entry.pid);
    if (entry.state != 'Z' && entry.state != 'X') living.push_back(entry.pid);
  }
  return living;
}

bool JobDriver::kill_processes_of(const RankProcess& rank) const {
  const std::vector<pid_t> pids = processes_of(rank);
  for (const pid_t pid : pids) kill(pid, SIGKILL);
  return !pids.empty();
}

/// Nothing of a dead incarnation may go on: its children could still write what the replacement writes.
void JobDriver::begin_fence(RankProcess& rank) {
  rank.phase = RankPhase::fencing;
  rank.input.reset();
  look_at_fence(rank);
}

/// Called again whenever a process below us ends, and when a pipe does.
void JobDriver::look_at_fence(RankProcess& rank) {
  if (kill_processes_of(rank)) return;
  // All writers are gone, so that the pipes have an end, which must have been read.
  if (rank.drained()) replace(rank);
}

void JobDriver::replace(RankProcess& rank) {
  if (ending_code_) return begin_draining(rank);
  ++rank.incarnation;
  ++rank.replacements;
  ++report_.replacements;
  rank.attached = 0;
  rank.attached_alive = false;
  rank.attached_status.reset();
  rank.errors.clear();
  rank.output.begin_incarnation(rank.calls == 0);
  auto status = arenas_->next_incarnation(rank.rank, identity_of(rank));
  if (status) status = start_rank(rank);
  if (!status) return cannot_start(status.error());
  rank.open_death = report_.deaths.size();
  while (*rank.open_death > 0 && report_.deaths[--*rank.open_death].rank != rank.rank) {
  }
  report_.deaths[*rank.open_death].respawn_s = seconds(rank.started_at - rank.died_at);
}

void JobDriver::rank_is_live(RankProcess& rank) {
  look_at_code(rank);
  if (ending_code_) return;
  give_held_signals(rank);
  if (!rank.open_death) return;
  DeathRecord& death = report_.deaths[*rank.open_death];
  death.replay_s = seconds(now() - rank.started_at);
  death.total_s = seconds(now() - rank.died_at);
  rank.open_death.reset();
  const RankView view = view_of(rank);
  say(
      fmt::format("mpirun: {} is live again as incarnation {}, {:.3f} s after its death: start and "
                  "replay took {:.3f} s, "
                  "{} sends compared, {} determinants replayed.\n",
                  name_of(rank), rank.incarnation, *death.total_s, *death.replay_s,
                  view.counters[static_cast<std::size_t>(log::Counter::sends_compared)],
                  view.counters[static_cast<std::size_t>(log::Counter::determinants_replayed)]));
}

/// A replacement whose program or library is another file than its predecessor's would give an answer that is
/// neither's.
void JobDriver::look_at_code(RankProcess& rank) {
  if (!rebuilding() || !rank.attached_alive || ending_code_) return;
  const MappedCode now_mapped = MappedCode::of(rank.attached);
  if (const auto path = rank.code.changed_in(now_mapped))
    return begin_ending(
        exit_diverged,
        fmt::format(
            "mpirun: {} cannot be replaced: {} has changed on disk since its predecessor loaded it; the job "
            "is ended. Build under another name, or wait until the job is over.\n",
            name_of(rank), *path));
  rank.code.add(now_mapped);
}

/// Libraries that the program opens by dlopen() are seen some time later.
void JobDriver::look_at_code_later(std::uint32_t number, std::chrono::milliseconds delay) {
  if (!rebuilding()) return;
  const RankProcess& looked_at = ranks_[number];
  loop_.after(delay, [this, number, delay, world = looked_at.world, incarnation = looked_at.incarnation] {
    RankProcess& rank = ranks_[number];
    if (finished_ || rank.world != world || rank.incarnation != incarnation || !rank.attached_alive) return;
    look_at_code(rank);
    look_at_code_later(number, std::min(2 * delay, code_look_max));
  });
}

void JobDriver::begin_draining(RankProcess& rank) {
  rank.phase = RankPhase::draining;
  if (rank.input) loop_.forget(rank.input.get());
  rank.input.reset();
  if (ending_code_) kill_processes_of(rank);
  if (rank.drained()) return look_at_draining(rank);
  loop_.after(linger_max,
              [this, number = rank.rank, world = rank.world] { stop_lingering(number, world, 1); });
}

void JobDriver::stop_lingering(std::uint32_t number, std::uint32_t world, int round) {
  RankProcess& rank = ranks_[number];
  if (rank.phase != RankPhase::draining || rank.world != world) return;
  kill_processes_of(rank);
  if (round == 1) {
    loop_.after(linger_max, [this, number, world] { stop_lingering(number, world, 2); });
    return;
  }
  // Who still holds the pipes has hidden itself well.
  drop_output(rank);
  look_at_draining(rank);
}

void JobDriver::look_at_draining(RankProcess& rank) {
  if (rank.phase != RankPhase::draining || !rank.drained()) return;
  if (ending_code_ != exit_diverged) release_output(rank);
  rank.phase = RankPhase::finished;
  arenas_->set_done(rank.rank);
  for (const std::uint8_t stream : {1, 2}) link_->send(control::Output{rank.rank, stream, {}});
  if (rebuilding() && rank.output.is_short() && !ending_code_) output_diverged(rank, rank.output.end());
}

}  // namespace llamada::launcher
