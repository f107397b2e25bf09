#pragma once

#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "llamada/base/result.hpp"

namespace llamada::launcher {

/// One process to start. Everything is prepared before the fork, for behind it nothing may be allocated.
struct SpawnRequest {
  std::string program;
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
  std::string working_directory;  ///< empty: the caller's
  int standard_input = -1;
  int standard_output = -1;
  int standard_error = -1;
  sigset_t signal_mask{};         ///< for the new process
  rlimit descriptor_limit{};      ///< RLIMIT_NOFILE for the new process
  bool fixed_addresses = false;   ///< without address space layout randomisation, where the system allows it
  std::optional<cpu_set_t> cpus;  ///< what it may run on, if not on all
  pid_t parent = 0;               ///< the caller: the new process dies by SIGKILL when it dies
};

/// A process that spawn() has started.
struct SpawnedProcess {
  pid_t pid = 0;
  /// The request wanted fixed addresses, and the system refused with this errno; 0 if it did not.
  int addresses_errno = 0;
};

/// Starts a process as the leader of a new process group. Returns when the program has been executed.
/// Errc::system when it could not be, with the errno of what failed.
Result<SpawnedProcess> spawn(const SpawnRequest& request);

}  // namespace llamada::launcher
