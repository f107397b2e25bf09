#pragma once

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <chrono>
#include <initializer_list>
#include <string>
#include <vector>

#include "llamada/base/file_descriptor.hpp"
#include "llamada/base/result.hpp"
#include "llamada/launcher/last_word.hpp"

namespace llamada::launcher {

/// The exit code of a llamanetd that has lost its mpirun, has ended its ranks and has said so.
inline constexpr int exit_llamanetd_orphaned = 70;

/// How long llamanetd, once it has lost its mpirun, may take to end its ranks before others do.
inline constexpr std::chrono::milliseconds llamanetd_grace{300};

/// What the guardian is given.
struct GuardianPlan {
  pid_t mpirun_pid = 0;
  FileDescriptor
      mpirun_life;  ///< the end of a pipe that is readable once mpirun, who alone holds the other, is dead
  FileDescriptor control;  ///< llamanetd's end of the control socket
  std::string llamanetd;   ///< the program
  LastWord last_word;
  rlimit descriptor_limit{};                    ///< what llamanetd is started with
  sigset_t signal_mask{};                       ///< mpirun's at its start, for llamanetd and the ranks
  std::vector<std::string> arguments{"--job"};  ///< the first ones of llamanetd
  std::vector<FileDescriptor> inherited{};      ///< by llamanetd, under the same numbers
};

/// Forks the guardian of a job and returns its pid. It forks the keeper, which starts `llamanetd --job
/// --control-fd N --last-word-fd M`. On a node of a job on several, the process that mpirun's agent has
/// started takes mpirun's place here, and the arguments are others. Both do nothing but watch: when mpirun
/// dies, or llamanetd ends otherwise than with exit code 0, they kill every process of the job, until none is
/// left, say one sentence on standard error, and exit with a code other than 0; the guardian does so too when
/// the keeper dies. When llamanetd ends with 0 they end quietly whatever processes the ranks left behind.
/// Whoever of mpirun, guardian, keeper and llamanetd are killed at once: the one that is left still knows all
/// that lives, and ends it. Each is continued when it is stopped (ChildWatch), and when the process above it
/// dies. `closed_in_guardian` are mpirun's ends of the control socket and of the pipe, which the guardian
/// must not hold.
Result<pid_t> fork_guardian(GuardianPlan plan, std::initializer_list<int> closed_in_guardian);

}  // namespace llamada::launcher
