/* paced ROUNDS KIBIBYTES WORK: each rank works, then sends so much to the next one, and again. WORK is in
 * steps of a few nanoseconds. No two messages are alike, so each is logged in full. */
#include "bench.h"

#include <stdint.h>
#include <stdlib.h>

static uint64_t next(uint64_t x) {
  x ^= x << 13;
  x ^= x >> 7;
  return x ^ (x << 17);
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc != 4) {
    if (rank == 0) fprintf(stderr, "usage: paced ROUNDS KIBIBYTES WORK\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const long rounds = atol(argv[1]), words = atol(argv[2]) * 128, work = atol(argv[3]);
  uint64_t* out = malloc((size_t)words * sizeof *out);
  uint64_t* in = malloc((size_t)words * sizeof *in);
  uint64_t x = 88172645463325252u + (uint64_t)rank;
  const double begin = MPI_Wtime();
  for (long round = 0; round < rounds; ++round) {
    for (long step = 0; step < work; ++step) x = next(x);
    for (long i = 0; i < words; ++i) out[i] = x = next(x);
    MPI_Sendrecv(out, (int)words, MPI_UINT64_T, (rank + 1) % size, 0, in, (int)words, MPI_UINT64_T,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (rank == 0) print_figure("paced", size, MPI_Wtime() - begin, "s");
  free(out);
  free(in);
  MPI_Finalize();
  return 0;
}
