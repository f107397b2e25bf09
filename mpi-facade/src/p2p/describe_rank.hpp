#pragma once

#include <string>

#include "world/world.hpp"

namespace llamada::mpi {

/// "rank 2 (incarnation 2), MPI_Send call 512": where the rank is.
std::string describe_rank(const World& world);

}  // namespace llamada::mpi
