#pragma once

namespace llamada::launcher {

/// What `mpirun` does, from its command line to its exit code (docs/mpirun.md).
int run_mpirun(int argument_count, char** arguments);

}  // namespace llamada::launcher
