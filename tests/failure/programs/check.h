/* A wrong answer ends the job with a sentence and code 99. Whoever includes this has a `rank`. */
#pragma once

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define UNUSED __attribute__((unused))

#define CHECK(condition)                                                                                     \
  do {                                                                                                       \
    if (!(condition)) {                                                                                      \
      fprintf(stderr, "WRONG ANSWER: rank %d, %s:%d: not true: %s\n", rank, __FILE__, __LINE__, #condition); \
      MPI_Abort(MPI_COMM_WORLD, 99);                                                                         \
    }                                                                                                        \
  } while (0)

UNUSED static uint64_t mix(uint64_t hash, uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15ull + (hash << 6) + (hash >> 2);
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9ull;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebull;
  return hash ^ (hash >> 31);
}

UNUSED static void* allocate(size_t bytes) {
  void* memory = calloc(1, bytes ? bytes : 1);
  CHECK(memory != NULL);
  return memory;
}
