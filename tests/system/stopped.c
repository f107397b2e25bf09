/* stopped FILE end|abort|hang: ranks that say who they are ("RANK PID"), exchange messages until FILE is
 * there, and then end, or rank 1 calls MPI_Abort with code 3, or sleeps outside MPI for ever. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank = 0, ended = 0;
  MPI_Init(&argc, &argv);
  if (argc < 3) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  printf("%d %d\n", rank, (int)getpid());
  fflush(stdout);
  if (strcmp(argv[2], "abort") == 0 && rank == 1) {
    while (access(argv[1], F_OK) != 0) usleep(10000);
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  while (!ended) {
    if (strcmp(argv[2], "hang") == 0 && rank == 1 && access(argv[1], F_OK) == 0)
      for (;;) pause();
    ended = rank == 0 && access(argv[1], F_OK) == 0 && strcmp(argv[2], "hang") != 0;
    MPI_Bcast(&ended, 1, MPI_INT, 0, MPI_COMM_WORLD);
    usleep(10000);
  }
  MPI_Finalize();
  return 0;
}
