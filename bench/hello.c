/* Begins and ends: how long a job takes at least, and ("hello memory") how much memory a rank takes: its
 * share of what is mapped (Pss) in KiB, the mean of all, after each has sent to its neighbours and waited for
 * everybody. */
#include "bench.h"

static long proportional_kilobytes(void) {
  char line[300];
  long kilobytes = 0, found;
  FILE* file = fopen("/proc/self/smaps_rollup", "r");
  while (file && fgets(line, sizeof line, file))
    if (sscanf(line, "Pss: %ld", &found) == 1) kilobytes = found;
  if (file) fclose(file);
  return kilobytes;
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  if (argc > 1 && strcmp(argv[1], "memory") == 0) {
    long mine, all;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &mine, 1, MPI_INT, (rank + size - 1) % size, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    mine = proportional_kilobytes();
    MPI_Reduce(&mine, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) print_figure("memory", size, (double)all / size, "KiB");
  }
  MPI_Finalize();
  return 0;
}
