/* What the programs of the benchmark share. Each prints lines "FIGURE X VALUE UNIT [LINE]", X being a size in
 * bytes or 0, VALUE the median of several batches, LINE what one cache line took between the two cores
 * meanwhile, there and back, half of it in ns. */
#ifndef LLAMADA_BENCH_H
#define LLAMADA_BENCH_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <mpi.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int cores_allowed = 1;

/* Rank r runs on the (r modulo their number)th of the cores that it may use: alike under every MPI. After
 * MPI_Init, which asks how many there are. */
static inline void pin_rank(int rank) {
  cpu_set_t allowed, one;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  cores_allowed = CPU_COUNT(&allowed);
  int place = rank % cores_allowed;
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

/* Two lines of memory that ranks 0 and 1 have in common, whatever the library. */
struct line_probe {
  _Alignas(128) atomic_int ping;
  _Alignas(128) atomic_int pong;
};
static struct line_probe* line_probe;
static int line_probe_rank;

static inline void no_line_probe(const char* what) {
  perror(what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* By ranks 0 and 1, pinned. From then on series have LINE, if each has a core of its own. */
static inline void share_line_probe(int rank) {
  int place[2] = {getpid(), -1};
  if (cores_allowed < 2) return;
  if (rank == 0) {
    place[1] = memfd_create("line", 0);
    if (place[1] < 0 || ftruncate(place[1], sizeof *line_probe) != 0) no_line_probe("memfd_create");
    MPI_Send(place, 2, MPI_INT, 1, 0, MPI_COMM_WORLD);
  } else {
    char path[64];
    MPI_Recv(place, 2, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    snprintf(path, sizeof path, "/proc/%d/fd/%d", place[0], place[1]);
    place[1] = open(path, O_RDWR);
    if (place[1] < 0) no_line_probe(path);
  }
  line_probe = mmap(NULL, sizeof *line_probe, PROT_READ | PROT_WRITE, MAP_SHARED, place[1], 0);
  if (line_probe == MAP_FAILED) no_line_probe("mmap");
  line_probe_rank = rank;
}

/* 0: there is no probe. */
static inline double probed_line_ns(void) {
  enum { rounds = 300 };
  static int turn = 0;
  if (line_probe == NULL) return 0;
  atomic_int *mine = &line_probe->ping, *others = &line_probe->pong;
  double start = MPI_Wtime();
  for (int r = 0; r < rounds; r++) {
    turn++;
    if (line_probe_rank == 0) atomic_store_explicit(mine, turn, memory_order_release);
    while (atomic_load_explicit(line_probe_rank == 0 ? others : mine, memory_order_acquire) != turn) {
    }
    if (line_probe_rank == 1) atomic_store_explicit(others, turn, memory_order_release);
  }
  return (MPI_Wtime() - start) / rounds / 2 * 1e9;
}

/* Batches of one figure, with the line probed before and after each. */
enum { series_max = 16 };
struct series {
  int count;
  double values[series_max], lines[series_max + 1];
};

static inline void series_begin(struct series* series) {
  series->count = 0;
  series->lines[0] = probed_line_ns();
}

static inline void series_add(struct series* series, double value) {
  series->values[series->count++] = value;
  series->lines[series->count] = probed_line_ns();
}

/* The median of the batches in the state in which most of them were taken (bench/report.py: FLIPPED). */
static inline void series_print(const struct series* series, const char* figure, long x, const char* unit) {
  const double flipped = 1.6;
  double lines[series_max + 1], values[series_max];
  memcpy(lines, series->lines, sizeof lines);
  double line = median(lines, series->count + 1);
  int count = 0;
  for (int i = 0; i < series->count; i++) {
    double before = series->lines[i], after = series->lines[i + 1];
    if (before <= line * flipped && after <= line * flipped && before * flipped >= line &&
        after * flipped >= line)
      values[count++] = series->values[i];
  }
  if (count < series->count / 2) return;
  printf("%s %ld %.5g %s", figure, x, median(values, count), unit);
  if (line > 0) printf(" %.4g", line);
  printf("\n");
  fflush(stdout);
}

#endif
