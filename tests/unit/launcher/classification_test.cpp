#include "classification.hpp"

#include <signal.h>

#include "death_text.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::launcher;

namespace {

qos::RankReplacement rebuild() {
  qos::RankReplacement policy;
  policy.kind = qos::RankReplacementKind::rebuild;
  policy.max_replacements_per_rank = 3;
  policy.max_replacements_per_job = 5;
  return policy;
}

DeathFacts killed(int signal, RankState state = RankState::in_program, std::uint64_t call_index = 10) {
  DeathFacts facts;
  facts.state = state;
  facts.signal = signal;
  facts.call_index = call_index;
  return facts;
}

DeathFacts exited(int code, RankState state) {
  DeathFacts facts;
  facts.state = state;
  facts.exit_code = code;
  return facts;
}

/// A row of the table: facts, history, policy, and what must come of them.
struct Row {
  const char* what;
  DeathFacts facts;
  DeathHistory history;
  qos::RankReplacement policy;
  Verdict verdict;
  int exit_code;
};

template <typename T, typename Change>
T changed(T value, Change change) {
  change(value);
  return value;
}

std::vector<Row> rows() {
  const qos::RankReplacement abort, again = rebuild();
  const qos::RankReplacement blank{.kind = qos::RankReplacementKind::blank};
  const DeathHistory none;
  const auto aborted = [](int code) {
    return changed(exited(code, RankState::exiting),
                   [code](auto& f) { f.aborted = true, f.abort_code = code; });
  };
  const auto wrapped = [](DeathFacts facts) {
    return changed(facts, [](auto& f) { f.behind_wrapper = true; });
  };
  return {
      {"return 0 after MPI_Finalize", exited(0, RankState::finalized), none, again, Verdict::done, 0},
      {"return 5 after MPI_Finalize", exited(5, RankState::finalized), none, again, Verdict::failed, 5},
      {"a program without MPI", exited(0, RankState::none), none, again, Verdict::done, 0},
      {"a program without MPI that fails", exited(3, RankState::none), none, again, Verdict::failed, 3},
      {"attached, but never in MPI", exited(0, RankState::attached), none, again, Verdict::done, 0},
      {"without MPI while others are in it",
       changed(exited(0, RankState::none), [](auto& f) { f.others_in_mpi = true; }), none, again,
       Verdict::program_will, 1},
      {"_exit(4) within MPI", exited(4, RankState::in_program), none, again, Verdict::program_will, 4},
      {"_exit(0) within MPI", exited(0, RankState::in_program), none, again, Verdict::program_will, 1},
      {"exit(3) within MPI", changed(exited(3, RankState::exiting), [](auto& f) { f.arena_exit_code = 3; }),
       none, again, Verdict::program_will, 3},
      {"exit(0) within MPI", exited(0, RankState::exiting), none, abort, Verdict::program_will, 1},
      {"killed while it exits",
       changed(killed(SIGKILL, RankState::exiting), [](auto& f) { f.arena_exit_code = 256 + 7; }), none,
       again, Verdict::program_will, 7},
      {"MPI_Abort(7)", aborted(7), none, again, Verdict::program_will, 7},
      {"MPI_Abort(0)", aborted(0), none, again, Verdict::program_will, 0},
      {"MPI_Abort(256)", aborted(256), none, again, Verdict::program_will, 1},
      {"killed, ABORT", killed(SIGKILL), none, abort, Verdict::abort_job, 137},
      {"killed before MPI_Init, ABORT", killed(SIGSEGV, RankState::none), none, abort, Verdict::abort_job,
       139},
      {"killed, REBUILD", killed(SIGKILL), none, again, Verdict::replace, 137},
      {"killed before MPI_Init, REBUILD", killed(SIGKILL, RankState::none), none, again, Verdict::replace,
       137},
      {"killed after MPI_Finalize, REBUILD", killed(SIGKILL, RankState::finalized), none, again,
       Verdict::replace, 137},
      {"the first fault", killed(SIGSEGV), none, again, Verdict::replace, 139},
      {"the same fault at the same call",
       killed(SIGSEGV),
       {.fault_call_index = 10},
       again,
       Verdict::deterministic_fault,
       139},
      {"a fault at another call", killed(SIGFPE), {.fault_call_index = 9}, again, Verdict::replace, 136},
      {"SIGBUS at the same call",
       killed(SIGBUS),
       {.fault_call_index = 10},
       again,
       Verdict::deterministic_fault,
       135},
      {"SIGKILL at the same call", killed(SIGKILL), {.fault_call_index = 10}, again, Verdict::replace, 137},
      {"once too often for a rank",
       killed(SIGKILL),
       {.replacements_of_rank = 3},
       again,
       Verdict::rank_limit,
       137},
      {"once too often for the job",
       killed(SIGKILL),
       {.replacements_of_job = 5},
       again,
       Verdict::job_limit,
       137},
      {"no longer protected", killed(SIGKILL), {.unreplaceable = true}, again, Verdict::unprotected, 137},
      {"by the user's SIGTERM",
       killed(SIGTERM),
       {.user_signals = 1u << SIGTERM},
       again,
       Verdict::user_ended,
       143},
      {"by another SIGTERM", killed(SIGTERM), {.user_signals = 1u << SIGINT}, again, Verdict::replace, 143},
      {"while the job ends", killed(SIGTERM), {.job_ending = true}, again, Verdict::swept_away, 143},
      {"MPI_Abort while the job ends", aborted(7), {.job_ending = true}, again, Verdict::swept_away, 7},
      {"a shell says that the rank was killed", wrapped(exited(137, RankState::in_program)), none, again,
       Verdict::replace, 137},
      {"a shell says it, ABORT", wrapped(exited(139, RankState::in_program)), none, abort, Verdict::abort_job,
       139},
      {"a shell says it before MPI_Init", exited(137, RankState::none), none, again, Verdict::replace, 137},
      {"a shell keeps quiet",
       changed(wrapped(exited(0, RankState::in_program)), [](auto& f) { f.lost = true; }), none, again,
       Verdict::replace, 137},
      {"_exit(137) without a shell", exited(137, RankState::in_program), none, again, Verdict::program_will,
       137},
      {"_exit(3) behind a shell", wrapped(exited(3, RankState::in_program)), none, again,
       Verdict::program_will, 3},
      {"killed, BLANK", killed(SIGKILL), none, blank, Verdict::lost, 137},
      {"the same fault again, SHRINK",
       killed(SIGSEGV),
       {.fault_call_index = 10},
       {.kind = qos::RankReplacementKind::shrink},
       Verdict::lost,
       139},
      {"_exit(0) within MPI, BLANK", exited(0, RankState::in_program), none, blank, Verdict::lost, 1},
      {"exit(3) within MPI, BLANK",
       changed(exited(3, RankState::exiting), [](auto& f) { f.arena_exit_code = 3; }), none, blank,
       Verdict::lost, 3},
      {"return 5 after MPI_Finalize, BLANK", exited(5, RankState::finalized), none, blank, Verdict::failed,
       5},
      {"MPI_Abort(7), BLANK", aborted(7), none, blank, Verdict::program_will, 7},
      {"by the user's SIGTERM, BLANK",
       killed(SIGTERM),
       {.user_signals = 1u << SIGTERM},
       blank,
       Verdict::user_ended,
       143},
      {"return 137 after MPI_Finalize", exited(137, RankState::finalized), none, again, Verdict::failed, 137},
  };
}

}  // namespace

TEST_CASE("classification: each end of a rank has its verdict", "[launcher]") {
  for (const Row& row : rows()) {
    INFO(row.what);
    const Judgement judgement = judge(row.facts, row.history, row.policy);
    CHECK(judgement.verdict == row.verdict);
    CHECK(judgement.exit_code == row.exit_code);
  }
}

TEST_CASE("death text: the block has rank, host, pid, cause, call and what was done", "[launcher]") {
  const qos::RankReplacement policy = rebuild();
  const DeathContext context{4, "node7", "fault-tolerant", &policy, 1};
  DeathRecord death;
  death.rank = 2;
  death.incarnation = 2;
  death.pid = 4711;
  death.state = RankState::in_program;
  death.mpi_call = "MPI_Allreduce";
  death.call_index = 512;
  const std::string text = describe_death(death, {Verdict::replace, SIGKILL, 137}, context);
  for (const char* part : {"rank 2 of 4", "node7", "4711", "SIGKILL", "MPI_Allreduce", "512", "incarnation 3",
                           "2 of at most 3", "fault-tolerant"}) {
    INFO(part);
    CHECK(text.find(part) != text.npos);
  }
  CHECK(text.find("--qos fault-tolerant") == text.npos);
  CHECK(describe_death(death, {Verdict::abort_job, SIGKILL, 137}, context).find("--qos fault-tolerant") !=
        text.npos);
  CHECK(describe_death(death, {Verdict::swept_away, SIGKILL, 137}, context).empty());
  CHECK(describe_death(death, {Verdict::deterministic_fault, SIGSEGV, 139}, context)
            .find("deterministic application fault") != text.npos);
}
