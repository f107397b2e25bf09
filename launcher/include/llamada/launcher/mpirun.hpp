#pragma once

#include "llamada/launcher/inject.hpp"

namespace llamada::launcher {

/// What `mpirun` does, from its command line to its exit code (docs/mpirun.md).
int run_mpirun(int argument_count, char** arguments, const IsMpiFunction& is_mpi_function);

}  // namespace llamada::launcher
