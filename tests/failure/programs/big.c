/* 16 MiB go round the ring, with a small message behind each that is wanted first, and the first 5 of what
 * one has to all. */
#include "program.h"

enum { words = 2 * 1024 * 1024, words_for_all = 5 * 1024 * 1024 / sizeof(uint64_t) };

static int wrong_words(const uint64_t* in, size_t count, int whose, int step) {
  int wrong = 0;
  for (size_t i = 0; i < count; i++) wrong += in[i] != ((uint64_t)(whose + step) << 40) + i * 7;
  return wrong;
}

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
    CHECK(wrong_words(in, words, left, step) == 0);
    int root = step % ranks;
    MPI_Bcast(rank == root ? out : in, words_for_all, MPI_UINT64_T, root, MPI_COMM_WORLD);
    CHECK(wrong_words(rank == root ? out : in, words_for_all, root, step) == 0);
  }
  free(out);
  free(in);
  return finish("big");
}
