/* At half of the steps rank 1 ends the job by its own will: -k exit3, exit0, abort7 or return4. */
#include "program.h"

int main(int argc, char** argv) {
  begin(argc, argv);
  int token = 0;
  for (int step = 0; step < steps; step++) {
    if (rank == 1 && step == steps / 2) {
      if (strcmp(kind, "exit3") == 0) exit(3);
      if (strcmp(kind, "exit0") == 0) exit(0);
      if (strcmp(kind, "abort7") == 0) MPI_Abort(MPI_COMM_WORLD, 7);
      if (strcmp(kind, "return4") == 0) return 4;
    }
    MPI_Allreduce(MPI_IN_PLACE, &token, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    pause_step();
  }
  return finish("leaving");
}
