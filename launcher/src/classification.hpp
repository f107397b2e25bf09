#pragma once

#include <cstdint>
#include <optional>

#include "llamada/launcher/job_arenas.hpp"
#include "llamada/qos/rank_replacement.hpp"

namespace llamada::launcher {

/// How the processes of a rank ended.
struct DeathFacts {
  RankState state = RankState::none;  ///< none: it never attached
  std::int32_t arena_exit_code = 0;   ///< of state exiting
  bool aborted = false;               ///< it said that it aborts the job
  std::int32_t abort_code = 0;
  std::optional<int> signal;     ///< what the process that was started died of
  int exit_code = 0;             ///< if by none
  bool behind_wrapper = false;   ///< the attached process is not the one that was started
  bool lost = false;             ///< the attached process died in MPI without an exit, as by a signal
  std::uint64_t call_index = 0;  ///< MPI calls begun
  bool others_in_mpi = false;    ///< another rank is between MPI_Init and MPI_Finalize
};

/// What has happened before.
struct DeathHistory {
  std::uint32_t replacements_of_rank = 0;
  std::uint32_t replacements_of_job = 0;
  /// The rank's last death, if it was by a signal that a fault of the program causes.
  std::optional<std::uint64_t> fault_call_index;
  bool unreplaceable = false;  ///< what a replacement would have to repeat is no longer kept
  bool job_ending = false;
  std::uint64_t user_signals = 0;  ///< bit n: the user sent signal n to mpirun, which passed it on
};

enum class Verdict {
  done,                 ///< as it should be
  failed,               ///< a non-zero code that concerns this rank alone; the others go on
  program_will,         ///< it left MPI without MPI_Finalize, or aborted: the job ends with its code
  lost,                 ///< it died, or left MPI without MPI_Finalize, and the others go on without it
  abort_job,            ///< it died, and the profile has no replacement
  replace,              ///< it died, and is replaced
  deterministic_fault,  ///< it died of the same fault at the same call again
  unprotected,          ///< it died, and what a replacement would have to repeat is no longer kept
  rank_limit,           ///< it died, and has been replaced as often as the profile allows
  job_limit,            ///< it died, and the job has had as many replacements as the profile allows
  user_ended,           ///< it died of the signal that the user sent
  swept_away,           ///< it ended because the job ends
};

struct Judgement {
  Verdict verdict = Verdict::done;
  std::optional<int> signal;  ///< what it died of, seen through a wrapper's exit code too
  int exit_code = 0;          ///< what it means for mpirun's exit code
};

/// Judges an end. Pure.
Judgement judge(const DeathFacts& facts, const DeathHistory& history, const qos::RankReplacement& policy);

/// The job's exit code after MPI_Abort with this code: 0 too, as under MPICH (a coarray program's STOP ends
/// so); never 0 for another code.
int code_of_abort(int code);

/// Whether a program that does the same again dies of it again: SIGSEGV, SIGFPE, SIGILL, SIGABRT, SIGBUS.
bool is_fault(int signal);

}  // namespace llamada::launcher
