/* locked [ROUNDS]: ranks whose memory is locked (mlockall), now and in the future, exchange messages of many
 * lengths. 0: the answer is right and no rank has made much more memory than it uses. 77: this user may not
 * lock so much. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { longest = 300000, resident_kib_max = 1 << 20 };

static int lock(void) {
  int mine = mlockall(MCL_CURRENT | MCL_FUTURE) == 0, all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return all;
}

int main(int argc, char** argv) {
  static unsigned char out[longest], in[longest];
  const int lengths[] = {8, 40, 1000, 8, 5000, 70000, 16, longest};
  const int rounds = argc > 1 ? atoi(argv[1]) : 200;
  int rank = 0, size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (!lock()) {
    MPI_Finalize();
    return 77;
  }
  for (int round = 0; round < rounds; ++round) {
    const int length = lengths[round % 8], from = (rank + size - 1) % size;
    memset(out, rank + round, (size_t)length);
    MPI_Sendrecv(out, length, MPI_BYTE, (rank + 1) % size, round, in, length, MPI_BYTE, from, round,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < length; ++i)
      if (in[i] != (unsigned char)(from + round)) MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  if (used.ru_maxrss > resident_kib_max) {
    fprintf(stderr, "rank %d has made %ld MiB of memory\n", rank, used.ru_maxrss >> 10);
    MPI_Abort(MPI_COMM_WORLD, 4);
  }
  MPI_Finalize();
  return 0;
}
