/* ULFM for Fortran: what programs with mpif-ext.h call, and what the modules mpi_ext and mpi_f08_ext call. */
#include "fortran.h"

#include <mpi-ext.h>

#define PUBLIC __attribute__((visibility("default")))

/* Names for compilers that spell names of Fortran otherwise, and for the modules. */
#define ALIAS(NAME, OF) __asm__(".globl " NAME "\n.set " NAME ", " OF)
#define SPELLINGS(LOWER, UPPER)    \
  ALIAS(LOWER, LOWER "_");         \
  ALIAS(LOWER "__", LOWER "_");    \
  ALIAS("p" LOWER "_", LOWER "_"); \
  ALIAS(LOWER "_f08_", LOWER "_"); \
  ALIAS(UPPER, LOWER "_")

static void answer(MPI_Fint* ierror, int code) {
  if (ierror) *ierror = code;
}

PUBLIC void mpix_comm_revoke_(const MPI_Fint* comm, MPI_Fint* ierror) {
  answer(ierror, MPIX_Comm_revoke(*comm));
}
PUBLIC void mpix_comm_is_revoked_(const MPI_Fint* comm, MPI_Fint* flag, MPI_Fint* ierror) {
  answer(ierror, MPIX_Comm_is_revoked(*comm, flag));
}
PUBLIC void mpix_comm_shrink_(const MPI_Fint* comm, MPI_Fint* new_comm, MPI_Fint* ierror) {
  answer(ierror, MPIX_Comm_shrink(*comm, new_comm));
}
PUBLIC void mpix_comm_ishrink_(const MPI_Fint* comm, MPI_Fint* new_comm, MPI_Fint* request,
                               MPI_Fint* ierror) {
  answer(ierror, MPIX_Comm_ishrink(*comm, new_comm, request));
}
PUBLIC void mpix_comm_agree_(const MPI_Fint* comm, MPI_Fint* flag, MPI_Fint* ierror) {
  answer(ierror, MPIX_Comm_agree(*comm, flag));
}
PUBLIC void mpix_comm_iagree_(const MPI_Fint* comm, MPI_Fint* flag, MPI_Fint* request, MPI_Fint* ierror) {
  answer(ierror, MPIX_Comm_iagree(*comm, flag, request));
}
PUBLIC void mpix_comm_failure_ack_(const MPI_Fint* comm, MPI_Fint* ierror) {
  answer(ierror, MPIX_Comm_failure_ack(*comm));
}
PUBLIC void mpix_comm_failure_get_acked_(const MPI_Fint* comm, MPI_Fint* group, MPI_Fint* ierror) {
  answer(ierror, MPIX_Comm_failure_get_acked(*comm, group));
}
PUBLIC void mpix_comm_get_failed_(const MPI_Fint* comm, MPI_Fint* group, MPI_Fint* ierror) {
  answer(ierror, MPIX_Comm_get_failed(*comm, group));
}
PUBLIC void mpix_comm_ack_failed_(const MPI_Fint* comm, const MPI_Fint* to_acknowledge,
                                  MPI_Fint* acknowledged, MPI_Fint* ierror) {
  answer(ierror, MPIX_Comm_ack_failed(*comm, *to_acknowledge, acknowledged));
}

SPELLINGS("mpix_comm_revoke", "MPIX_COMM_REVOKE");
SPELLINGS("mpix_comm_is_revoked", "MPIX_COMM_IS_REVOKED");
SPELLINGS("mpix_comm_shrink", "MPIX_COMM_SHRINK");
SPELLINGS("mpix_comm_ishrink", "MPIX_COMM_ISHRINK");
SPELLINGS("mpix_comm_agree", "MPIX_COMM_AGREE");
SPELLINGS("mpix_comm_iagree", "MPIX_COMM_IAGREE");
SPELLINGS("mpix_comm_failure_ack", "MPIX_COMM_FAILURE_ACK");
SPELLINGS("mpix_comm_failure_get_acked", "MPIX_COMM_FAILURE_GET_ACKED");
SPELLINGS("mpix_comm_get_failed", "MPIX_COMM_GET_FAILED");
SPELLINGS("mpix_comm_ack_failed", "MPIX_COMM_ACK_FAILED");
