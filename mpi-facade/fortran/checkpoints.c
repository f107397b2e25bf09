/* Checkpoints for Fortran: what programs with mpif.h call, and what the module llamada_checkpoints calls. */
#include "sections.h"

#include <llamada-checkpoint.h>

#define PUBLIC __attribute__((visibility("default")))

static void answer(MPI_Fint* ierror, int code) {
  if (ierror) *ierror = code;
}

PUBLIC void llamada_checkpoint_register_(void* memory, const MPI_Aint* bytes, MPI_Fint* ierror) {
  answer(ierror, *bytes < 0 ? MPI_ERR_ARG : LLAMADA_Checkpoint_register(memory, (size_t)*bytes));
}

/* Memory with gaps is refused: the bytes behind its first element are not those of its elements. */
PUBLIC void llamada_checkpoint_register_f08(const CFI_cdesc_t* memory, const MPI_Aint* bytes,
                                            MPI_Fint* ierror) {
  if (llamada_is_whole(memory))
    llamada_checkpoint_register_(memory->base_addr, bytes, ierror);
  else
    answer(ierror, MPI_ERR_BUFFER);
}

PUBLIC void llamada_checkpoint_(const MPI_Fint* comm, MPI_Fint* restarted, MPI_Fint* ierror) {
  answer(ierror, LLAMADA_Checkpoint(*comm, restarted));
}

/* Names for compilers that spell names of Fortran otherwise, and for the module's two kinds of communicators.
 */
#define ALIAS(NAME, OF) __asm__(".globl " NAME "\n.set " NAME ", " OF)
ALIAS("llamada_checkpoint_register", "llamada_checkpoint_register_");
ALIAS("llamada_checkpoint_register__", "llamada_checkpoint_register_");
ALIAS("LLAMADA_CHECKPOINT_REGISTER", "llamada_checkpoint_register_");
ALIAS("llamada_checkpoint", "llamada_checkpoint_");
ALIAS("llamada_checkpoint__", "llamada_checkpoint_");
ALIAS("LLAMADA_CHECKPOINT", "llamada_checkpoint_");
ALIAS("llamada_checkpoint_mpi_", "llamada_checkpoint_");
ALIAS("llamada_checkpoint_f08_", "llamada_checkpoint_");
