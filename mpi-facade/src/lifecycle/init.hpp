#pragma once

#include <string>

namespace llamada::mpi {

/// What MPI_Init does: joins the job unless that has happened, and makes the Runtime with its parts. Ends the
/// process with one sentence when that is not possible.
void initialize(int thread_level);

/// What MPI_Session_init does (MPI 4.0, 11.3): the same without MPI_COMM_WORLD's parents; and
/// MPI_Session_finalize. With the last session the library stays, and can be entered again.
void enter_by_session(int thread_level);
void leave_by_session();

/// What MPI_Finalize does, before `finalized` is set: completes what others still need of this rank, and
/// waits for all.
void finalize();

}  // namespace llamada::mpi
