/* For the test of the runner itself: after some steps every rank waits for a message that nobody sends. -k
 * test: they ask for it again and again. */
#include "program.h"

int main(int argc, char** argv) {
  begin(argc, argv);
  int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks, value = 0, done = 0;
  for (int step = 0; step < steps; step++) {
    MPI_Sendrecv(&step, 1, MPI_INT, right, 0, &value, 1, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    pause_step();
  }
  MPI_Request request;
  MPI_Irecv(&value, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &request);
  if (strcmp(kind, "test") == 0)
    while (!done) {
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      pause_step();
    }
  else
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  return finish("deadlock");
}
