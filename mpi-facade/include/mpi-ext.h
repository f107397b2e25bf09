/** @file
 * The extension ULFM (User Level Failure Mitigation), as Open MPI and MPICH have it. The processes that live
 * go on after the death of others, if the job's profile says so (rank_replacement BLANK or SHRINK).
 * docs/ulfm.md explains it.
 *
 * Any thread that may call MPI may call these functions. They return MPI_SUCCESS or an error class, through
 * the communicator's error handler. */
#ifndef LLAMADA_MPI_EXT_INCLUDED
#define LLAMADA_MPI_EXT_INCLUDED

#include "mpi.h"

/* Programs test for these names to know that the functions exist. */
#define LLAMADA_HAVE_ULFM 1
#define OMPI_HAVE_MPI_EXT_FTMPI 1

/* Error classes; codes are classes. The numbers are MPICH's. */
/** The call needs a process that has died. */
#define MPIX_ERR_PROC_FAILED 101
/** A process that might send has died; the receive from MPI_ANY_SOURCE stays posted. */
#define MPIX_ERR_PROC_FAILED_PENDING 102
/** A member has revoked the communicator. */
#define MPIX_ERR_REVOKED 103

/* Open MPI has these names for them, too. */
#define MPI_ERR_PROC_FAILED MPIX_ERR_PROC_FAILED
#define MPI_ERR_PROC_FAILED_PENDING MPIX_ERR_PROC_FAILED_PENDING
#define MPI_ERR_REVOKED MPIX_ERR_REVOKED

/** The key of a predefined attribute of communicators: an int, 1 in a job that goes on without processes that
 * die, otherwise 0. */
#define MPIX_FT 0x64400011

#if defined(__cplusplus)
extern "C" {
#endif

/** Ends the communicator for all members. Calls on it, except local ones, MPIX_Comm_agree and
 * MPIX_Comm_shrink, return MPIX_ERR_REVOKED from then on, also those that already wait. Only one member
 * has to call it. MPI_ERR_UNSUPPORTED_OPERATION if the profile's rank_replacement is ABORT or REBUILD. */
LLAMADA_MPI_PUBLIC int MPIX_Comm_revoke(MPI_Comm comm);

/** Sets *flag to 1 if this process knows that the communicator was revoked, otherwise to 0. Local. */
LLAMADA_MPI_PUBLIC int MPIX_Comm_is_revoked(MPI_Comm comm, int* flag);

/** Makes a communicator of the members that live, in their order. Collective among these; it works on a
 * revoked communicator, too. Attributes and topology are not copied. MPI_ERR_UNSUPPORTED_OPERATION for an
 * intercommunicator. After an error *new_comm is MPI_COMM_NULL. */
LLAMADA_MPI_PUBLIC int MPIX_Comm_shrink(MPI_Comm comm, MPI_Comm* new_comm);

/** The nonblocking MPIX_Comm_shrink. *new_comm must exist until the request completes.
 * MPI_ERR_UNSUPPORTED_OPERATION with rank_replacement REBUILD, too. */
LLAMADA_MPI_PUBLIC int MPIX_Comm_ishrink(MPI_Comm comm, MPI_Comm* new_comm, MPI_Request* request);

/** Sets *flag to the bits that it has on all members. All members that live get the same result, whoever dies
 * meanwhile. Collective among these, also on a revoked communicator and on an intercommunicator.
 * MPIX_ERR_PROC_FAILED on all members if one of them has not acknowledged a dead one; *flag is set
 * nevertheless. */
LLAMADA_MPI_PUBLIC int MPIX_Comm_agree(MPI_Comm comm, int* flag);

/** The nonblocking MPIX_Comm_agree. *flag is read at once, and set when the request completes.
 * MPI_ERR_UNSUPPORTED_OPERATION with rank_replacement REBUILD. */
LLAMADA_MPI_PUBLIC int MPIX_Comm_iagree(MPI_Comm comm, int* flag, MPI_Request* request);

/** Acknowledges all dead members that this process knows of. Then receives from MPI_ANY_SOURCE no longer fail
 * because of these. Local. */
LLAMADA_MPI_PUBLIC int MPIX_Comm_failure_ack(MPI_Comm comm);

/** Gives the group of the acknowledged dead members, for MPI_Group_free; MPI_GROUP_EMPTY if there are none.
 * Local. */
LLAMADA_MPI_PUBLIC int MPIX_Comm_failure_get_acked(MPI_Comm comm, MPI_Group* failed_group);

/** Gives the group of all dead members that this process knows of, for MPI_Group_free. Local. */
LLAMADA_MPI_PUBLIC int MPIX_Comm_get_failed(MPI_Comm comm, MPI_Group* failed_group);

/** Acknowledges dead members in the order of MPIX_Comm_get_failed, until number_to_acknowledge of them (0 and
 * more) are acknowledged or all are. Sets *number_acknowledged to the number that then is. Local. */
LLAMADA_MPI_PUBLIC int MPIX_Comm_ack_failed(MPI_Comm comm, int number_to_acknowledge,
                                            int* number_acknowledged);

/* Names for tools, as for every function of MPI (MPI 4.0, 15.2). */
LLAMADA_MPI_PUBLIC int PMPIX_Comm_revoke(MPI_Comm comm);
LLAMADA_MPI_PUBLIC int PMPIX_Comm_is_revoked(MPI_Comm comm, int* flag);
LLAMADA_MPI_PUBLIC int PMPIX_Comm_shrink(MPI_Comm comm, MPI_Comm* new_comm);
LLAMADA_MPI_PUBLIC int PMPIX_Comm_ishrink(MPI_Comm comm, MPI_Comm* new_comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPIX_Comm_agree(MPI_Comm comm, int* flag);
LLAMADA_MPI_PUBLIC int PMPIX_Comm_iagree(MPI_Comm comm, int* flag, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPIX_Comm_failure_ack(MPI_Comm comm);
LLAMADA_MPI_PUBLIC int PMPIX_Comm_failure_get_acked(MPI_Comm comm, MPI_Group* failed_group);
LLAMADA_MPI_PUBLIC int PMPIX_Comm_get_failed(MPI_Comm comm, MPI_Group* failed_group);
LLAMADA_MPI_PUBLIC int PMPIX_Comm_ack_failed(MPI_Comm comm, int number_to_acknowledge,
                                             int* number_acknowledged);

#if defined(__cplusplus)
}
#endif

#endif
