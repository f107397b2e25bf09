/* after_finalize FILE: behind MPI_Finalize each rank reads a clock, prints what it says, appends it to
 * FILE.<rank>, works for a while, and prints it again. */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank, is_over;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  printf("%d begins\n", rank);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  MPI_Finalized(&is_over);
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  printf("%d at %ld.%09ld over %d\n", rank, (long)now.tv_sec, now.tv_nsec, is_over);
  fflush(stdout);
  char name[4096];
  snprintf(name, sizeof name, "%s.%d", argv[1], rank);
  FILE* const file = fopen(name, "a");
  fprintf(file, "%09ld\n", now.tv_nsec);
  fclose(file);
  sleep(3);
  printf("%d ends, begun at %09ld\n", rank, now.tv_nsec);
  return 0;
}
