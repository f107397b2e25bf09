#pragma once

#include "sim_job.hpp"

namespace llamada::mpi::sim {

/// A random program: the same for a seed, on all ranks, whatever the schedule; but what it sends depends on
/// everything that it was told. Throws a std::string when a message is not what it must be.
void run_program(Rank& rank, std::uint64_t seed);

}  // namespace llamada::mpi::sim
