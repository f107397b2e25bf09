#pragma once

#include <functional>
#include <string_view>

namespace llamada::launcher {

/// Whether MPI has a function of this name, "MPI_Send".
using IsMpiFunction = std::function<bool(std::string_view)>;

/// What `mpirun` does, from its command line to its exit code (docs/mpirun.md).
int run_mpirun(int argument_count, char** arguments, const IsMpiFunction& is_mpi_function);

}  // namespace llamada::launcher
