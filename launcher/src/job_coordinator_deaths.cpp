#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <utility>

#include "death_text.hpp"
#include "job_coordinator.hpp"
#include "llamada/launcher/exit_codes.hpp"
#include "llamada/log/arena_layout.hpp"

// What the ends of ranks mean.

namespace llamada::launcher {
namespace {

/// How soon after a rank has left without MPI it is seen that others wait for it there.
constexpr std::chrono::milliseconds deserter_look{100};

double seconds(std::chrono::nanoseconds duration) { return std::chrono::duration<double>(duration).count(); }

JobRank::TimePoint now() { return JobRank::TimePoint::clock::now(); }

std::uint64_t counter_of(const RankView& view, log::Counter counter) {
  return view.counters[static_cast<std::size_t>(counter)];
}

DeathFacts facts_of(const JobRank& rank, const node::Ended& end) {
  DeathFacts facts;
  facts.state = end.view.state;
  facts.arena_exit_code = end.view.exit_code;
  facts.aborted = rank.aborted;
  facts.abort_code = rank.abort_code;
  facts.call_index = end.view.call_index;
  facts.behind_wrapper = end.behind_wrapper;
  const int status = end.attached_status.value_or(end.root_status);
  if (WIFSIGNALED(status)) facts.signal = WTERMSIG(status);
  if (WIFEXITED(status)) facts.exit_code = WEXITSTATUS(status);
  // A process that exits says so in its arena. The exit code is its wrapper's, which may be any: setsid -w
  // and gdb end with codes of their own when the program below them is killed.
  facts.lost = facts.behind_wrapper && !end.attached_status && end.view.state == RankState::in_program &&
               !facts.signal;
  const bool has_left_mpi = end.view.state == RankState::finalized || end.view.state == RankState::exiting;
  if (end.is_adopted) facts.lost = !has_left_mpi;
  facts.others_in_mpi = end.others_in_mpi;
  return facts;
}

}  // namespace

DeathHistory JobCoordinator::history_of(const JobRank& rank) const {
  DeathHistory history;
  history.replacements_of_rank = rank.replacements;
  history.replacements_of_job = report_.replacements;
  history.fault_call_index = rank.fault_call_index;
  history.unreplaceable = !unprotected_because_.empty() || (input_.is_lost() && rank.slot == 0);
  history.job_ending = ending_code_.has_value();
  history.user_signals = user_signals_.seen;
  return history;
}

/// What is known of the rank without a look at its end.
DeathRecord JobCoordinator::begin_record(const JobRank& rank) const {
  DeathRecord record;
  record.rank = rank.slot;
  record.world = rank.world;
  record.name = name_of(rank);
  record.incarnation = rank.incarnation;
  record.last_errors = rank.errors.lines();
  return record;
}

DeathRecord JobCoordinator::record_of(const JobRank& rank, const node::Ended& end,
                                      const Judgement& judgement) const {
  DeathRecord record = begin_record(rank);
  record.pid = end.pid;
  record.signal = judgement.signal;
  if (!judgement.signal) record.exit_code = judgement.exit_code;
  record.mpi_call = end.view.call;
  record.call_index = end.view.call_index;
  record.cause_is_unknown = end.is_adopted;
  record.state = end.view.state;
  record.replaying = rank.open_death.has_value();
  record.sent_before = counter_of(end.view, log::Counter::messages_sent) > 0;
  record.replaced = judgement.verdict == Verdict::replace;
  record.core_file = end.core_file;
  if (rank.lease_over && judgement.signal == SIGKILL) {
    record.silence = describe_silence(*rank.lease_over, lease());
    record.detected_after_s = seconds(std::chrono::nanoseconds(rank.lease_over->silent_for_ns));
  }
  return record;
}

/// Of whose memory the kernel said that it is used up, if that is what killed a rank.
std::optional<std::string> JobCoordinator::memory_used_up(const node::Ended& end,
                                                          const Judgement& judgement) {
  if (judgement.signal != SIGKILL || end.oom_kills <= told_.oom_kills) return std::nullopt;
  ++told_.oom_kills;
  return end.memory_of;
}

void JobCoordinator::tell_of_death(const JobRank& rank, const node::Ended& end, const Judgement& judgement) {
  DeathRecord record = record_of(rank, end, judgement);
  if (const auto ago = injector_->rank_died(record))
    record.detected_after_s = seconds(*ago);
  else if (record.silence.empty())
    record.memory_used_up = memory_used_up(end, judgement);
  const DeathContext context{.rank_count = world_of(rank).count,
                             .host = host_of(rank),
                             .profile = job_.profile_label,
                             .policy = &profile_.rank_replacement,
                             .replacements_of_rank = rank.replacements,
                             .unprotected_because = unprotected_because_};
  say(describe_death(record, judgement, context));
  report_.deaths.push_back(std::move(record));
}

void JobCoordinator::on(node::Ended&& message) {
  together_.shared.rank_ended(message.slot);
  JobRank* const rank = rank_at(message.slot);
  if (!rank) return;
  rank->root_status = message.root_status;
  if (rank->discarded) return drain(*rank);
  const DeathFacts facts = facts_of(*rank, message);
  const Judgement judgement = judge(facts, history_of(*rank), profile_.rank_replacement);
  rank->died_at = now();
  rank->calls = std::max(rank->calls, message.view.call_index);
  if (judgement.verdict != Verdict::done && judgement.verdict != Verdict::swept_away)
    tell_of_death(*rank, message, judgement);
  rank->open_death.reset();
  rank->fault_call_index.reset();
  if (judgement.signal && is_fault(*judgement.signal)) rank->fault_call_index = facts.call_index;
  act_on(*rank, judgement);
  if (judgement.verdict != Verdict::replace) end_in_agreements({rank->slot});
  const bool had_mpi = message.view.state == RankState::finalized;
  if (!had_mpi && judgement.verdict <= Verdict::failed) look_for_deserters_later();
}

void JobCoordinator::act_on(JobRank& rank, const Judgement& judgement) {
  switch (judgement.verdict) {
    case Verdict::replace:
      rank.phase = RankPhase::fencing;
      end_input_of(rank);
      return tell_node_(node::Fence{rank.slot});
    case Verdict::failed:
      if (first_failure_ == 0) first_failure_ = judgement.exit_code;
      return drain(rank);
    case Verdict::done:
    case Verdict::swept_away:
      return drain(rank);
    case Verdict::lost:
      return go_on_without(rank, judgement.exit_code);
    default:
      break;
  }
  drain(rank);
  begin_ending(judgement.exit_code, {});
}

void JobCoordinator::drain(JobRank& rank) {
  rank.phase = RankPhase::draining;
  end_input_of(rank);
  tell_node_(node::Drain{rank.slot});
}

void JobCoordinator::end_input_of(const JobRank& rank) {
  if (rank.slot != 0) return;
  input_.end_incarnation();
  give_input();
}

void JobCoordinator::on(node::Fenced&& message) {
  JobRank* const rank = rank_at(message.slot);
  if (!rank || rank->phase != RankPhase::fencing) return;
  if (ending_code_) return drain(*rank);
  ++rank->incarnation;
  ++rank->replacements;
  ++report_.replacements;
  rank->phase = RankPhase::running;
  rank->pid = 0;
  rank->errors.clear();
  rank->lease_over.reset();
  // One that had yet to repeat what ranks before a resume wrote says nothing of what its successor writes.
  rank->output.begin_incarnation(rank->calls == 0 || rank->output.is_short());
  rank->open_death = report_.deaths.size();
  while (*rank->open_death > 0 && report_.deaths[--*rank->open_death].rank != rank->slot) {
  }
  node::StartRanks message_to_node;
  message_to_node.ranks.push_back(start_of(*rank));
  tell_node_(std::move(message_to_node));
}

void JobCoordinator::on(node::Live&& message) {
  JobRank* const rank = rank_at(message.slot);
  if (!rank || ending_code_) return;
  give_held_signals(*rank);
  if (rank->incarnation == 1) caught_up();
  if (!rank->open_death) return;
  DeathRecord& death = report_.deaths[*rank->open_death];
  death.replay_s = seconds(now() - rank->started_at);
  death.total_s = seconds(now() - rank->died_at);
  rank->open_death.reset();
  say(
      fmt::format("mpirun: {} is live again as incarnation {}, {:.3f} s after its death: start and "
                  "replay took {:.3f} s, "
                  "{} sends compared, {} determinants replayed.\n",
                  name_of(*rank), rank->incarnation, *death.total_s, *death.replay_s,
                  counter_of(message.view, log::Counter::sends_compared),
                  counter_of(message.view, log::Counter::determinants_replayed)));
}

void JobCoordinator::on(node::Done&& message) {
  together_.shared.rank_done(message.slot);
  JobRank* const rank = rank_at(message.slot);
  if (!rank || rank->phase == RankPhase::finished) return;
  if (ending_code_ != exit_diverged) release_output(*rank);
  rank->phase = RankPhase::finished;
  rank->view = std::move(message.view);
  if (!message.driver_drops.empty()) report_.driver_drops[message.node] = std::move(message.driver_drops);
  for (const std::uint8_t stream : {1, 2}) show({rank->slot, stream, {}});
  if (rebuilding() && rank->output.is_short() && !ending_code_) output_diverged(*rank, rank->output.end());
}

void JobCoordinator::look_for_deserters_later() {
  if (std::exchange(will_look_for_deserters_, true)) return;
  loop_.after(deserter_look, [this] {
    will_look_for_deserters_ = false;
    if (!ending_code_ && !finished_) tell_node_(node::Survey{});
  });
}

/// A rank that has ended without MPI, while others go on to MPI and wait for it, ends the job.
void JobCoordinator::on(node::Surveyed&& message) {
  if (ending_code_ || finished_) return;
  if (message.ranks_in_mpi > 0)
    return begin_ending(first_failure_ == 0 ? 1 : first_failure_,
                        "mpirun: a rank ended without MPI_Init, and the ranks in MPI would wait for it "
                        "forever; the job is ended.\n");
  if (message.ranks_running > 0) look_for_deserters_later();
}

}  // namespace llamada::launcher
