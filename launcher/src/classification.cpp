#include "classification.hpp"

#include <signal.h>

#include "llamada/launcher/exit_codes.hpp"

namespace llamada::launcher {
namespace {

/// The signals whose 128 + n is taken for a death by them when a shell exits with it.
bool is_deadly(int signal) {
  return is_fault(signal) || signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP ||
         signal == SIGPIPE || signal == SIGQUIT;
}

/// A process may attach before MPI_Init, to be told the time.
bool has_been_in_mpi(RankState state) { return state != RankState::none && state != RankState::attached; }

/// The signal that the rank died of: what the kernel says, or what a shell in between says by its exit code.
std::optional<int> signal_of(const DeathFacts& facts) {
  if (facts.signal) return facts.signal;
  const bool may_be_wrapper = facts.behind_wrapper || !has_been_in_mpi(facts.state);
  const int from_code = facts.exit_code - exit_signal_base;
  if (may_be_wrapper && facts.state != RankState::exiting && is_deadly(from_code)) return from_code;
  if (facts.lost) return SIGKILL;
  return std::nullopt;
}

/// What a shell sees of the code that a program left MPI with; never 0, for the job is not done.
int code_of_will(int code) { return (code & 0xff) == 0 ? 1 : code & 0xff; }

Judgement judge_signal(int signal, const DeathFacts& facts, const DeathHistory& history,
                       const qos::RankReplacement& policy) {
  const auto with = [signal](Verdict verdict) {
    return Judgement{verdict, signal, exit_signal_base + signal};
  };
  if (history.user_signals >> (signal & 63) & 1) return with(Verdict::user_ended);
  if (qos::survivors_go_on(policy)) return with(Verdict::lost);
  if (policy.kind != qos::RankReplacementKind::rebuild) return with(Verdict::abort_job);
  if (is_fault(signal) && history.fault_call_index == facts.call_index)
    return with(Verdict::deterministic_fault);
  if (history.unreplaceable) return with(Verdict::unprotected);
  if (history.replacements_of_rank >= policy.max_replacements_per_rank) return with(Verdict::rank_limit);
  if (history.replacements_of_job >= policy.max_replacements_per_job) return with(Verdict::job_limit);
  return with(Verdict::replace);
}

/// A rank has left MPI by an exit of its own. Where the others go on without dead ranks, they do so here,
/// too.
Judgement leave(int code, const qos::RankReplacement& policy) {
  return {qos::survivors_go_on(policy) ? Verdict::lost : Verdict::program_will, std::nullopt,
          code_of_will(code)};
}

Judgement judge_exit(const DeathFacts& facts, const qos::RankReplacement& policy) {
  const int code = facts.exit_code;
  // Without MPI_Finalize; or without MPI_Init, and the others would wait for this rank for ever.
  const bool deserted = !has_been_in_mpi(facts.state) && facts.others_in_mpi;
  if (facts.state == RankState::in_program || deserted) return leave(code, policy);
  if (code == 0) return {Verdict::done, std::nullopt, 0};
  return {Verdict::failed, std::nullopt, code};
}

}  // namespace

int code_of_abort(int code) { return code == 0 ? 0 : code_of_will(code); }

bool is_fault(int signal) {
  return signal == SIGSEGV || signal == SIGFPE || signal == SIGILL || signal == SIGABRT || signal == SIGBUS;
}

Judgement judge(const DeathFacts& facts, const DeathHistory& history, const qos::RankReplacement& policy) {
  const std::optional<int> signal = signal_of(facts);
  if (history.job_ending)
    return {Verdict::swept_away, signal, signal ? exit_signal_base + *signal : facts.exit_code};
  if (facts.aborted) return {Verdict::program_will, std::nullopt, code_of_abort(facts.abort_code)};
  if (facts.state == RankState::exiting) return leave(facts.arena_exit_code, policy);
  return signal ? judge_signal(*signal, facts, history, policy) : judge_exit(facts, policy);
}

}  // namespace llamada::launcher
