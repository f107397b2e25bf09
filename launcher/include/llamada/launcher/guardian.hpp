#pragma once

#include <signal.h>
#include <sys/types.h>

#include <chrono>
#include <string>

#include "llamada/base/file_descriptor.hpp"
#include "llamada/base/result.hpp"
#include "llamada/launcher/last_word.hpp"

namespace llamada::launcher {

/// The exit code of a llamanetd that has lost its mpirun, has ended its ranks and has said so.
inline constexpr int exit_llamanetd_orphaned = 70;

/// How long llamanetd, once it has lost its mpirun, may take to end its ranks before others do.
inline constexpr std::chrono::milliseconds llamanetd_grace{400};

/// What the guardian is given.
struct GuardianPlan {
  pid_t mpirun_pid = 0;
  FileDescriptor mpirun_pidfd;  ///< readable once mpirun is dead
  FileDescriptor control;       ///< llamanetd's end of the control socket
  std::string llamanetd;        ///< the program
  LastWord last_word;
  sigset_t signal_mask{};  ///< mpirun's at its start, for llamanetd and the ranks
};

/// Forks the guardian of a job and returns its pid. It starts `llamanetd --job --control-fd N --last-word-fd
/// M` and does nothing but watch: when mpirun dies, or llamanetd ends otherwise than with exit code 0, it
/// kills every process of the job, until none is left, says one sentence on standard error, and exits with a
/// code other than 0. When llamanetd ends with 0 it ends quietly whatever processes the ranks left behind.
/// `closed_in_guardian` is mpirun's end of the control socket, which the guardian must not hold.
Result<pid_t> fork_guardian(GuardianPlan plan, int closed_in_guardian);

}  // namespace llamada::launcher
