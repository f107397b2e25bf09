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
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "state.h"

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

/* By ranks 0 and 1, pinned. From then on series have LINE and CORES, if each has a core of its own. */
static inline void share_meeting(int rank) {
  int place[2] = {getpid(), -1};
  if (cores_allowed < 2) return;
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

/* Batches of one figure, with the machine's state before and after each. */
enum { series_max = 32 };
struct series {
  int wanted, count;
  double begun_ns;
  double values[series_max];
  struct state before[series_max], after[series_max];
  struct state now;
};

static inline struct state series_probe(void) {
  return meeting ? probe_state(meeting, meeting_side) : (struct state){0};
}

/* Of `wanted` batches. */
static inline void series_begin(struct series* series, int wanted) {
  series->wanted = wanted;
  series->count = 0;
  series->begun_ns = now_ns();
  series->now = series_probe();
}

static inline int series_shared(const struct series* series, bool is_shared) {
  int count = 0;
  for (int b = 0; b < series->count; b++)
    if (series->before[b].is_shared == is_shared && series->after[b].is_shared == is_shared) count++;
  return count;
}

enum series_verdict { series_is_done, series_goes_on, series_waits };

/* Of side 0. Who has enough from shared cores waits a while for whole ones. */
static inline enum series_verdict series_judge(const struct series* series) {
  const double patience_ns = 0.3e9;
  if (series->count < series->wanted) return series_goes_on;
  if (series_shared(series, false) >= series->wanted / 2 || series->count == series_max ||
      now_ns() - series->begun_ns > patience_ns)
    return series_is_done;
  return series->now.is_shared ? series_waits : series_goes_on;
}

/* Whether there is to be another batch: asked before each, by both ranks if they probe. */
static inline bool series_has_next(struct series* series) {
  if (meeting == NULL) return series->count < series->wanted;
  for (;;) {
    int verdict = agreed(meeting, meeting_side, meeting_side == 0 ? (int)series_judge(series) : 0);
    if (verdict != series_waits) return verdict == series_goes_on;
    series->now = series_probe();
  }
}

static inline void series_add(struct series* series, double value) {
  series->values[series->count] = value;
  series->before[series->count] = series->now;
  series->after[series->count] = series->now = series_probe();
  series->count++;
}

/* The median of the batches on cores of this kind, in the state of the line in which most of them were taken
 * (bench/report.py: FLIPPED). */
static inline void series_print_of(const struct series* series, bool is_shared, const char* figure, long x,
                                   const char* unit) {
  const double flipped = 1.6;
  double lines[series_max], values[series_max];
  int of_kind = 0, count = 0;
  for (int b = 0; b < series->count; b++)
    if (series->before[b].is_shared == is_shared && series->after[b].is_shared == is_shared)
      lines[of_kind++] = series->after[b].line_ns;
  double line = of_kind > 0 ? median(lines, of_kind) : 0;
  for (int b = 0; b < series->count; b++) {
    const struct state *before = &series->before[b], *after = &series->after[b];
    if (before->is_shared == is_shared && after->is_shared == is_shared &&
        before->line_ns <= line * flipped && after->line_ns <= line * flipped &&
        before->line_ns * flipped >= line && after->line_ns * flipped >= line)
      values[count++] = series->values[b];
  }
  if (count < series->wanted / 2) return;
  printf("%s %ld %.5g %s", figure, x, median(values, count), unit);
  if (meeting) printf(" %.4g %s", line, is_shared ? "shared" : "whole");
  printf("\n");
  fflush(stdout);
}

static inline void series_print(const struct series* series, const char* figure, long x, const char* unit) {
  series_print_of(series, false, figure, x, unit);
  series_print_of(series, true, figure, x, unit);
}

#endif
