#pragma once

#include <memory>
#include <string>

#include "world/world.hpp"

namespace llamada::mpi {

/// What the launcher tells a rank's process in its environment.
struct LaunchedRank {
  std::string driver;       ///< LLAMADA_DRIVER: the driver's socket name
  int rank = 0;             ///< LLAMADA_RANK: the slot
  int size = 0;             ///< LLAMADA_SIZE: of its MPI_COMM_WORLD
  int first = 0;            ///< LLAMADA_FIRST: the slot of rank 0 there; 0 unless it was spawned
  std::uint64_t token = 0;  ///< LLAMADA_TOKEN
  int cpus = 0;  ///< LLAMADA_CPUS: those of all ranks together, where each is bound to some; else 0
  bool is_adopted = false;  ///< it is no child of its llamanetd's: the kernel ends it when that one ends
};

/// Joins the job over llamaNET. Waits for no other rank. Errors: as Application::attach(); parse_error for a
/// profile that cannot be read.
Result<std::unique_ptr<World>> attach_to_driver(const LaunchedRank& launched);

}  // namespace llamada::mpi
