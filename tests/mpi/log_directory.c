/* Sends argv[1] messages of 64 KiB round the ring, none like another, so that the logs grow by that on each
 * rank, and prints a checksum. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { words = 8192 };

static uint64_t next_number(uint64_t* state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const long rounds = argc > 1 ? atol(argv[1]) : 100;
  static uint64_t out[words], in[words];
  uint64_t state = 0x9e3779b97f4a7c15u + (uint64_t)rank, sum = 0;
  for (long round = 0; round < rounds; round++) {
    for (int i = 0; i < words; i++) out[i] = next_number(&state);
    MPI_Sendrecv(out, words, MPI_UINT64_T, (rank + 1) % size, 1, in, words, MPI_UINT64_T,
                 (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < words; i++) sum = sum * 31 + in[i];
    state += sum & 0xff;
  }
  uint64_t total = 0;
  MPI_Reduce(&sum, &total, 1, MPI_UINT64_T, MPI_BXOR, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%016llx\n", (unsigned long long)total);
  MPI_Finalize();
  return 0;
}
