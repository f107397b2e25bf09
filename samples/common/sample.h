/* What the samples share: a hash to compare answers with, numbers from options, and leaving with a sentence.
 */
#pragma once

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Folds one more value into a running hash. The order of the values matters. */
static inline uint64_t hash_mix(uint64_t hash, uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15ull + (hash << 6) + (hash >> 2);
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9ull;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebull;
  return hash ^ (hash >> 31);
}

/* The hash of the bits of `count` doubles. */
static inline uint64_t hash_doubles(uint64_t hash, const double* values, size_t count) {
  for (size_t i = 0; i < count; i++) {
    uint64_t bits;
    memcpy(&bits, &values[i], sizeof bits);
    hash = hash_mix(hash, bits);
  }
  return hash;
}

/* Ends the whole job with code 1 after one sentence on stderr. */
static inline void give_up(const char* sentence) {
  fprintf(stderr, "%s\n", sentence);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Memory that is there, or the end of the job. */
static inline void* allocate(size_t size_bytes) {
  void* memory = calloc(1, size_bytes ? size_bytes : 1);
  if (!memory) give_up("there is not enough memory");
  return memory;
}

/* The value of an option: a whole number of at least `least`. */
static inline int option_number(const char* text, int least) {
  char* end;
  long value = strtol(text, &end, 10);
  if (*end != '\0' || value < least || value > 1000000000) {
    fprintf(stderr, "'%s' is not a whole number of at least %d\n", text, least);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  return (int)value;
}
