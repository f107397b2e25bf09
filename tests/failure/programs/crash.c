/* A bug: at half of the steps rank 1 dies by -k segv, fpe, ill or abort, each time it comes there. */
#include <signal.h>

#include "program.h"

static void die(void) {
  if (strcmp(kind, "segv") == 0) *(volatile int*)16 = 1;
  if (strcmp(kind, "fpe") == 0) {
    volatile int many = 100, zero = 0; /* 1 / zero would be computed without a division */
    many = many / zero;
  }
  if (strcmp(kind, "ill") == 0) __builtin_trap();
  abort();
}

int main(int argc, char** argv) {
  begin(argc, argv);
  int token = 0;
  for (int step = 0; step < steps; step++) {
    if (rank == 1 && step == steps / 2) die();
    MPI_Sendrecv_replace(&token, 1, MPI_INT, (rank + 1) % ranks, 0, (rank + ranks - 1) % ranks, 0,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    pause_step();
  }
  return finish("crash");
}
