#pragma once

#include "process/pmi_job.hpp"
#include "world/world.hpp"

namespace llamada::mpi {

/// The World of this process: joined at the first call, which is that of MPI_Init, or before it of a function
/// of libc whose answers are recorded. Waits for no other rank. Null while it is being joined (a call from
/// within), and in a child of fork(). When joining fails, one sentence goes to stderr and the process ends.
///
/// Threads: any; while one joins, the others get null.
World* early_world();

/// The World if it has been joined.
World* joined_world();

/// The process manager by which this process has joined its World; null: by another way, or not yet.
PmiJob* process_manager();

/// Whether this process was started by a launcher of ours.
bool is_launched();

}  // namespace llamada::mpi
