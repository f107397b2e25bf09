/* What the MPI test programs share. A program is one chapter; each works on any number of ranks, checks what
 * it gets, and ends with "ok <chapter>" from rank 0 and code 0, or with the failed line and MPI_Abort. */
#pragma once

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNUSED __attribute__((unused))

static const char* chapter;
static int rank, ranks;

static void check_failed(const char* file, int line, const char* what) {
  fprintf(stderr, "%s:%d: rank %d of %d: not true: %s\n", file, line, rank, ranks, what);
  fflush(stderr);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

#define CHECK(condition)                                            \
  do {                                                              \
    if (!(condition)) check_failed(__FILE__, __LINE__, #condition); \
  } while (0)

/* Two whole numbers that must be equal; a failure shows them. */
#define CHECK_EQ(a, b)                                                                        \
  do {                                                                                        \
    long long left_ = (long long)(a), right_ = (long long)(b);                                \
    if (left_ != right_) {                                                                    \
      char text_[300];                                                                        \
      snprintf(text_, sizeof text_, "%s == %s, for %lld is not %lld", #a, #b, left_, right_); \
      check_failed(__FILE__, __LINE__, text_);                                                \
    }                                                                                         \
  } while (0)

#define OK(call) CHECK((call) == MPI_SUCCESS)

/* False for MPICH, which serves to prove these programs but has faults of its own in 4.0.2: the status of an
 * Irecv from MPI_PROC_NULL, the order of unsigned integers, Reduce with MPI_IN_PLACE at a root other than 0,
 * Reduce_scatter with MPI_IN_PLACE, MPI_LASTUSEDCODE, external32 of a long double, two edges of a distributed
 * graph between the same ranks, the count of a read beyond the end of a file through a view with gaps, what
 * MPI_Win_flush_all completes, windows that are made after others were freed. */
UNUSED static int is_strict(void) {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  MPI_Get_library_version(text, &length);
  return strncmp(text, "MPICH", 5) != 0;
}

/* A deterministic number that differs for each triple. */
UNUSED static inline uint32_t pattern(uint32_t a, uint32_t b, uint32_t c) {
  uint64_t value = a * 0x9e3779b97f4a7c15ull + b * 0xbf58476d1ce4e5b9ull + c * 0x94d049bb133111ebull;
  value ^= value >> 29;
  value *= 0x2545f4914f6cdd1dull;
  return (uint32_t)(value >> 32);
}

UNUSED static void fill(int* values, int count, uint32_t a, uint32_t b) {
  for (int i = 0; i < count; i++) values[i] = (int)pattern(a, b, (uint32_t)i);
}

UNUSED static int filled(const int* values, int count, uint32_t a, uint32_t b) {
  for (int i = 0; i < count; i++)
    if (values[i] != (int)pattern(a, b, (uint32_t)i)) return 0;
  return 1;
}

UNUSED static void* allocate(size_t bytes) {
  void* memory = calloc(1, bytes ? bytes : 1);
  CHECK(memory != NULL);
  return memory;
}

UNUSED static int status_is(const MPI_Status* status, int source, int tag, MPI_Datatype type, int count) {
  int got = -1;
  MPI_Get_count(status, type, &got);
  return status->MPI_SOURCE == source && status->MPI_TAG == tag && got == count;
}

/* The status of a request that is null or was not started. */
UNUSED static int status_is_empty(const MPI_Status* status) {
  int count = -1;
  MPI_Get_count(status, MPI_BYTE, &count);
  return status->MPI_SOURCE == MPI_ANY_SOURCE && status->MPI_TAG == MPI_ANY_TAG && count == 0;
}

UNUSED static void begin(const char* name, int* argc, char*** argv) {
  chapter = name;
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
}

UNUSED static int finish(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("ok %s\n", chapter);
  MPI_Finalize();
  return 0;
}
