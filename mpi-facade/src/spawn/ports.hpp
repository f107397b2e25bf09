#pragma once

#include <string>

#include "llamada/base/result.hpp"
#include "object/communicator.hpp"
#include "spawn/bridge.hpp"

namespace llamada::mpi {

/// Where a process takes connections (MPI 3.1, 10.4): "JOB:SLOT:NUMBER", JOB being World::job_name().
struct Port {
  int slot = 0;
  int number = 0;

  std::string name() const;
  /// invalid_argument when it is no port's name, or one of another job.
  static Result<Port> parse(const std::string& name);
};

/// A port of this process, known to the job.
Result<std::string> open_port();
/// Who calls it from now on is told that it is closed. not_found: it is none of this process's open ones.
Status close_port(const std::string& name);

/// Collective over `local`; the name counts at the root, and is as the program gave it. A verdict that is not
/// good says why there is no communicator.
Result<Communicator*> accept(Communicator& local, int root, const char* name, Verdict& verdict);
Result<Communicator*> connect(Communicator& local, int root, const char* name, Verdict& verdict);

/// MPI_Comm_join (10.5.5) over a connected socket. Null when the other end is of another job, so that no
/// communicator can be made.
Result<Communicator*> join(int socket);

}  // namespace llamada::mpi
