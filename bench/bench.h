/* What the programs of the benchmark share. Each prints lines "FIGURE X VALUE UNIT [LINE CORES]", X being a
 * size in bytes or 0, VALUE the median of several batches, LINE what one cache line took between the two
 * cores meanwhile, there and back, half of it in ns, CORES "whole", or "shared" with somebody else (state.h).
 * A figure may come twice, once for each. */
#ifndef LLAMADA_BENCH_H
#define LLAMADA_BENCH_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cores.h"
#include "series.h"

static int cores_allowed = 1;

/* Rank r runs on the (r modulo their number)th of the cores that it may use: alike under every MPI. After
 * MPI_Init, which asks how many there are. */
static inline void pin_rank(int rank) {
  cores_allowed = count_cores();
  if (cores_allowed > 0) pin(allowed_core(rank % cores_allowed));
}

/* Memory that was written once, so that its pages are there. */
static inline char* memory(size_t size) {
  char* bytes = NULL;
  if (posix_memalign((void**)&bytes, 4096, size ? size : 1) != 0) exit(1);
  memset(bytes, 1, size);
  return bytes;
}

/* Writes one word of each 64 KiB, or of the whole if that is less, at a place that moves: what is sent is
 * then not what was sent last, which benchmarks that send one buffer unchanged do not show. */
static inline void change(char* buffer, size_t size) {
  static unsigned drawn = 1;
  for (size_t begin = 0; begin < size; begin += 65536) {
    size_t part = size - begin < 65536 ? size - begin : 65536;
    drawn = drawn * 1664525u + 1013904223u;
    if (part >= 8) ++*(unsigned long*)(buffer + begin + (drawn >> 8) % (part / 8) * 8);
  }
}

/* One word of each line: nothing is left of what was sent last. */
static inline void renew(char* buffer, size_t size) {
  for (size_t i = 0; i + 8 <= size; i += 64) ++*(unsigned long*)(buffer + i);
}

/* What "changed" and "anew" do to a buffer before it is sent; null for anything else. */
typedef void change_function(char*, size_t);
static inline change_function* change_named(const char* name) {
  return strcmp(name, "changed") == 0 ? change : strcmp(name, "anew") == 0 ? renew : NULL;
}

static inline void print_figure(const char* figure, long x, double value, const char* unit) {
  printf("%s %ld %.5g %s\n", figure, x, value, unit);
  fflush(stdout);
}

/* Memory that ranks 0 and 1 have in common, whatever the library; NULL: they do not probe. */
static struct meeting* meeting;
static int meeting_side;

static inline void no_meeting(const char* what) {
  perror(what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Of ranks 0 and 1, called by both. */
static inline int are_on_one_host(int rank) {
  char own[MPI_MAX_PROCESSOR_NAME] = "", other[MPI_MAX_PROCESSOR_NAME] = "";
  int length;
  MPI_Get_processor_name(own, &length);
  MPI_Sendrecv(own, sizeof own, MPI_CHAR, 1 - rank, 0, other, sizeof other, MPI_CHAR, 1 - rank, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return strcmp(own, other) == 0;
}

/* By ranks 0 and 1, pinned. From then on series have LINE and CORES, if each has a core of its own, and both
 * are on one host. */
static inline void share_meeting(int rank) {
  int place[2] = {getpid(), -1};
  if (cores_allowed < 2 || !are_on_one_host(rank)) return;
  if (rank == 0) {
    place[1] = memfd_create("meeting", 0);
    if (place[1] < 0 || ftruncate(place[1], sizeof *meeting) != 0) no_meeting("memfd_create");
    MPI_Send(place, 2, MPI_INT, 1, 0, MPI_COMM_WORLD);
  } else {
    char path[64];
    MPI_Recv(place, 2, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    snprintf(path, sizeof path, "/proc/%d/fd/%d", place[0], place[1]);
    place[1] = open(path, O_RDWR);
    if (place[1] < 0) no_meeting(path);
  }
  meeting = mmap(NULL, sizeof *meeting, PROT_READ | PROT_WRITE, MAP_SHARED, place[1], 0);
  if (meeting == MAP_FAILED) no_meeting("mmap");
  meeting_side = rank;
}

#endif
