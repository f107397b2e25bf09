/* 16 MiB go round the ring, with a small message behind each that is wanted first. */
#include "program.h"

enum { words = 2 * 1024 * 1024 };

int main(int argc, char** argv) {
  steps = 12;
  pause_us = 60000;
  begin(argc, argv);
  uint64_t *out = allocate(sizeof(uint64_t) * words), *in = allocate(sizeof(uint64_t) * words);
  int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
  for (int step = 0; step < steps; step++) {
    MPI_Request requests[2];
    int small = rank * 1000 + step, got = -1;
    for (size_t i = 0; i < words; i++) out[i] = ((uint64_t)(rank + step) << 40) + i * 7;
    MPI_Isend(out, words, MPI_UINT64_T, right, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&small, 1, MPI_INT, right, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Recv(&got, 1, MPI_INT, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(got == left * 1000 + step);
    pause_step();
    MPI_Recv(in, words, MPI_UINT64_T, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    int wrong = 0;
    for (size_t i = 0; i < words; i++) wrong += in[i] != ((uint64_t)(left + step) << 40) + i * 7;
    CHECK(wrong == 0);
  }
  free(out);
  free(in);
  return finish("big");
}
