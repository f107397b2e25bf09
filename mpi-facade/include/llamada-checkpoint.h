/** @file
 * Checkpoints that a program takes itself. A job that loses a rank, a node or all of its processes then goes
 * on from the last checkpoint, instead of computing everything again. docs/checkpoints.md explains them.
 *
 * Only the thread that called MPI_Init may call these functions. They never call an error handler. */
#ifndef LLAMADA_CHECKPOINT_INCLUDED
#define LLAMADA_CHECKPOINT_INCLUDED

#include <stddef.h>

#include "mpi.h"

#if defined(__cplusplus)
extern "C" {
#endif

/** Adds memory to each checkpoint: `bytes` from `memory` on. The program calls this after MPI_Init and before
 * the first LLAMADA_Checkpoint, in the same order whenever it runs. Each rank may register other memory.
 * Returns MPI_ERR_ARG if `memory` is null and `bytes` is not 0, and MPI_ERR_OTHER after the first checkpoint.
 */
LLAMADA_MPI_PUBLIC int LLAMADA_Checkpoint_register(void* memory, size_t bytes);

/** Takes a checkpoint. All ranks of MPI_COMM_WORLD call it together, and `comm` must be a communicator of all
 * of them. Sets *restarted to 0, or to 1 if the program goes on from a later checkpoint. Then the registered
 * memory has the contents that it had there, and everything else in the process is as it was at this call.
 *
 * No message may be under way between the ranks, no request active, no file of MPI and no window open.
 * Returns MPI_ERR_OTHER, on all ranks, if the checkpoint was not taken: mpirun prints the reason, and the
 * program goes on. Returns MPI_ERR_COMM or MPI_ERR_ARG if an argument is wrong. In a job whose profile
 * replaces no ranks it does nothing and returns MPI_SUCCESS. */
LLAMADA_MPI_PUBLIC int LLAMADA_Checkpoint(MPI_Comm comm, int* restarted);

#if defined(__cplusplus)
}
#endif

#endif
