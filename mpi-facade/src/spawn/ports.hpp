#pragma once

#include <chrono>
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

/// What the root of a connection says: the name as the program gave it, and how long who calls a port waits
/// to be accepted.
struct Connection {
  int root = 0;
  const char* port_name = nullptr;
  std::chrono::seconds timeout{0};
};
/// How long without an info key "timeout": what LLAMADA_CONNECT_TIMEOUT or, in seconds too, MPICH's variables
/// say, else three minutes.
std::chrono::seconds default_connect_timeout();

/// Collective over `local`. A verdict that is not good says why there is no communicator.
Result<Communicator*> accept(Communicator& local, const Connection& connection, Verdict& verdict);
Result<Communicator*> connect(Communicator& local, const Connection& connection, Verdict& verdict);

/// MPI_Comm_join (10.5.5) over a connected socket. Null when the other end is of another job, so that no
/// communicator can be made.
Result<Communicator*> join(int socket);

}  // namespace llamada::mpi
