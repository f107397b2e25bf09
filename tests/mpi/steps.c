/* steps N: an Allreduce every few milliseconds, N times. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank, sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < atoi(argv[1]); i++) {
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    usleep(3000);
  }
  if (rank == 0) printf("sum %d\n", sum);
  MPI_Finalize();
  return 0;
}
