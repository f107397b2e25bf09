/* What the programs of the benchmark share. Each prints lines "FIGURE X VALUE UNIT", X being a size in bytes
 * or 0, VALUE the median of several batches. */
#ifndef LLAMADA_BENCH_H
#define LLAMADA_BENCH_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rank r runs on the (r modulo their number)th of the cores that it may use: alike under every MPI. After
 * MPI_Init, which asks how many there are. */
static inline void pin_rank(int rank) {
  cpu_set_t allowed, one;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  int place = rank % CPU_COUNT(&allowed);
  for (int core = 0; core < CPU_SETSIZE; core++) {
    if (!CPU_ISSET(core, &allowed) || place-- > 0) continue;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    sched_setaffinity(0, sizeof one, &one);
    return;
  }
}

static inline int bench_ascending(const void* a, const void* b) {
  double difference = *(const double*)a - *(const double*)b;
  return (difference > 0) - (difference < 0);
}

static inline double median(double* values, int count) {
  qsort(values, (size_t)count, sizeof(double), bench_ascending);
  return values[count / 2];
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

#endif
