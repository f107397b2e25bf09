/* until_told FILE: ranks send each other messages of many lengths and look at each byte, until FILE is there.
   Prints "right: N rounds", or which rank found which byte wrong. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { bytes_max = 100000 };

static unsigned char byte_of(int round, int rank, int at) {
  return (unsigned char)(round * 31 + rank * 7 + at);
}

int main(int argc, char** argv) {
  static unsigned char sent[bytes_max], received[bytes_max];
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  for (int round = 0, over = 0; !over; ++round) {
    const int bytes = round % 50 == 49 ? bytes_max : round * 37 % 5000;
    for (int at = 0; at < bytes; ++at) sent[at] = byte_of(round, rank, at);
    MPI_Sendrecv(sent, bytes, MPI_BYTE, next, round, received, bytes, MPI_BYTE, before, round, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int at = 0; at < bytes; ++at)
      if (received[at] != byte_of(round, before, at)) {
        printf("wrong: rank %d, round %d, byte %d of %d\n", rank, round, at, bytes);
        MPI_Abort(MPI_COMM_WORLD, 1);
      }
    int is_told = rank == 0 && access(argv[1], F_OK) == 0, rounds = round + 1, sum = 0;
    MPI_Allreduce(&is_told, &over, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(&rounds, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (sum != rounds * size) MPI_Abort(MPI_COMM_WORLD, 2);
    if (over && rank == 0) printf("right: %d rounds\n", rounds);
  }
  MPI_Finalize();
  return 0;
}
