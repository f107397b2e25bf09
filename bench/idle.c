/* How much processor time a rank takes that waits for a message for two seconds. */
#include "bench.h"

#include <sys/resource.h>
#include <time.h>

static double processor_ms(void) {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e3 +
         (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e3;
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  pin_rank(rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    struct timespec pause = {2, 0};
    nanosleep(&pause, NULL);
    MPI_Send(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
  } else if (rank == 1) {
    double before = processor_ms();
    MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    print_figure("idle", 2, processor_ms() - before, "ms");
  }
  MPI_Finalize();
  return 0;
}
