#pragma once

#include "world/world.hpp"

namespace llamada::mpi {

/// From now on every way in which this process can end of its own will before MPI_Finalize, exit(0) too, is
/// written into the arena (ArenaHeader::state, exit_code): it is the program's will, and ends the job. The
/// World must stay for as long as the process. Children of fork() write nothing.
void watch_exit(World& world);

/// MPI_Finalize is complete: ending is as it should be.
void exit_is_allowed();

}  // namespace llamada::mpi
