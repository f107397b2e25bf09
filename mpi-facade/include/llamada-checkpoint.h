/** @file
 * Checkpoints that a program takes itself, so that a job which loses a rank, or all of its processes, does not
 * compute everything again. docs/checkpoints.md explains them.
 *
 * Only the thread that called MPI_Init may call these functions. They never call an error handler. */
#ifndef LLAMADA_CHECKPOINT_INCLUDED
#define LLAMADA_CHECKPOINT_INCLUDED

#include <stddef.h>

#include "mpi.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** Names memory that belongs to each checkpoint: `bytes` from `memory` on. To be called after MPI_Init and
 * before the first LLAMADA_Checkpoint, in the same order whenever the program runs; each rank may have other
 * memory. MPI_ERR_ARG if `memory` is null and `bytes` is not 0, MPI_ERR_OTHER behind the first checkpoint. */
LLAMADA_MPI_PUBLIC int LLAMADA_Checkpoint_register(void* memory, size_t bytes);

/** Takes a checkpoint, which all ranks of MPI_COMM_WORLD do together; `comm` has to be a communicator of
 * all of them. Sets *restarted to 0, or to 1 if the program goes on from a later checkpoint: its
 * registered memory then has what it had there, and all else in the process is as at this call.
 *
 * No message may be under way between the ranks, no request active, no file of MPI and no window open.
 * MPI_ERR_OTHER, on all ranks, if the checkpoint was not taken; mpirun says why, and the program goes on.
 * MPI_ERR_COMM or MPI_ERR_ARG if an argument is wrong. In a job whose profile replaces no ranks nothing
 * happens: MPI_SUCCESS. */
LLAMADA_MPI_PUBLIC int LLAMADA_Checkpoint(MPI_Comm comm, int* restarted);

#if defined(__cplusplus)
}
#endif

#endif
