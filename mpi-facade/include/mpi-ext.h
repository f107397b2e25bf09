/* What Llamada has beyond MPI, in the form of the extension ULFM (User Level Failure Mitigation), as Open MPI
 * and MPICH have it: the processes that live go on after the death of others, where the job's profile says so
 * (rank_replacement BLANK or SHRINK). docs/ulfm.md explains it. */
#ifndef LLAMADA_MPI_EXT_INCLUDED
#define LLAMADA_MPI_EXT_INCLUDED

#include "mpi.h"

/* What programs ask to know whether the functions are there. */
#define LLAMADA_HAVE_ULFM 1
#define OMPI_HAVE_MPI_EXT_FTMPI 1

/* Error classes; codes are classes. The numbers are MPICH's. */
#define MPIX_ERR_PROC_FAILED 101
#define MPIX_ERR_PROC_FAILED_PENDING 102
#define MPIX_ERR_REVOKED 103

#if defined(__cplusplus)
extern "C" {
#endif

LLAMADA_MPI_PUBLIC int MPIX_Comm_revoke(MPI_Comm comm);
LLAMADA_MPI_PUBLIC int MPIX_Comm_is_revoked(MPI_Comm comm, int* flag);
LLAMADA_MPI_PUBLIC int MPIX_Comm_shrink(MPI_Comm comm, MPI_Comm* new_comm);
LLAMADA_MPI_PUBLIC int MPIX_Comm_ishrink(MPI_Comm comm, MPI_Comm* new_comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPIX_Comm_agree(MPI_Comm comm, int* flag);
LLAMADA_MPI_PUBLIC int MPIX_Comm_iagree(MPI_Comm comm, int* flag, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPIX_Comm_failure_ack(MPI_Comm comm);
LLAMADA_MPI_PUBLIC int MPIX_Comm_failure_get_acked(MPI_Comm comm, MPI_Group* failed_group);
LLAMADA_MPI_PUBLIC int MPIX_Comm_get_failed(MPI_Comm comm, MPI_Group* failed_group);
LLAMADA_MPI_PUBLIC int MPIX_Comm_ack_failed(MPI_Comm comm, int number_to_acknowledge,
                                            int* number_acknowledged);

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
