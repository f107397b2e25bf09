#pragma once

namespace llamada::tools {

/// The driver of one MPI job, which mpirun started: its end of their socket is `control_descriptor`. Returns
/// the exit code.
int run_job(int control_descriptor);

}  // namespace llamada::tools
