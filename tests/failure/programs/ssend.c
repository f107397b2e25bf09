/* Synchronous sends, blocking and not, round the ring. */
#include "program.h"

int main(int argc, char** argv) {
  begin(argc, argv);
  int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
  static const int counts[] = {0, 1, 1000, 30000};
  int *out = allocate(sizeof(int) * 30000), *in = allocate(sizeof(int) * 30000);
  for (int step = 0; step < steps; step++) {
    int count = counts[step % 40 == 0 ? 3 : step % 3];
    for (int i = 0; i < count; i++) out[i] = rank + step * 3 + i;
    MPI_Request request;
    if (step % 2) {
      MPI_Issend(out, count, MPI_INT, right, 0, MPI_COMM_WORLD, &request);
      MPI_Recv(in, count, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      MPI_Irecv(in, count, MPI_INT, left, 0, MPI_COMM_WORLD, &request);
      MPI_Ssend(out, count, MPI_INT, right, 0, MPI_COMM_WORLD);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < count; i++) CHECK(in[i] == left + step * 3 + i);
    pause_step();
  }
  free(out);
  free(in);
  return finish("ssend");
}
