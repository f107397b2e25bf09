/* A program that runs for about two seconds, and whose answer follows from TERM of its library
   (changing_library.c) and STEP of its own. usage: changing */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

#ifndef STEP
#define STEP 1
#endif

int term_of(int step);

int main(int argc, char** argv) {
  int rank, size;
  long sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int step = 0; step < 200; ++step) {
    long mine = (rank + 1L) * STEP + term_of(step), all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    sum += all;
    usleep(10000);
  }
  if (rank == 0) printf("sum %ld\n", sum);
  MPI_Finalize();
  return 0;
}
