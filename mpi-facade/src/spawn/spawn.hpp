#pragma once

#include <functional>
#include <vector>

#include "llamada/base/result.hpp"
#include "object/communicator.hpp"
#include "spawn/bridge.hpp"
#include "world/world.hpp"

namespace llamada::mpi {

/// What the root's arguments say, or why they are wrong: an error class and a sentence.
struct SpawnOrder {
  std::vector<SpawnCommand> commands;
  int error_class = 0;
  std::string text;
};

/// MPI_Comm_spawn and MPI_Comm_spawn_multiple (MPI 3.1, 10.3): collective over `parents`; `order` is called
/// at the root. `verdict` says how many processes were asked for and whether they run; then the
/// intercommunicator with them is given.
Result<Communicator*> spawn(Communicator& parents, int root, const std::function<SpawnOrder()>& order,
                            Verdict& verdict);

/// The other side, within MPI_Init: collective over MPI_COMM_WORLD. Null for processes that nobody spawned.
Result<Communicator*> join_parents();

/// Before the end of MPI_Finalize: waits until all processes that a communicator connects this one with, in
/// other worlds, are there too (10.5.4).
void wait_for_connected();

}  // namespace llamada::mpi
