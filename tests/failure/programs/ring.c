/* A running hash goes round the ring; rank 0 compares it with its own computation. */
#include "program.h"

int main(int argc, char** argv) {
  begin(argc, argv);
  uint64_t hash = 1, expected = 1;
  int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
  for (int step = 0; step < steps; step++) {
    if (rank > 0) MPI_Recv(&hash, 1, MPI_UINT64_T, left, step % 100, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    hash = mix(hash, (uint64_t)(step * ranks + rank));
    MPI_Send(&hash, 1, MPI_UINT64_T, right, step % 100, MPI_COMM_WORLD);
    if (rank == 0) MPI_Recv(&hash, 1, MPI_UINT64_T, left, step % 100, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int r = 0; r < ranks; r++) expected = mix(expected, (uint64_t)(step * ranks + r));
    if (rank == 0) CHECK(hash == expected);
    pause_step();
  }
  if (rank == 0) printf("ring %016llx\n", (unsigned long long)hash);
  return finish("ring");
}
