/* Batches of one figure that two threads or processes take, which probe the machine's state between them. */
#ifndef LLAMADA_BENCH_SERIES_H
#define LLAMADA_BENCH_SERIES_H

#include <stdio.h>

#include "state.h"

enum { series_max = 32 };

/* With the machine's state before and after each batch. */
struct series {
  struct meeting* meeting; /* none: there is no state to be seen */
  int side;
  int wanted, count;
  double begun_ns;
  double values[series_max];
  struct state before[series_max], after[series_max];
  struct state now;
};

static inline void series_probe(struct series* series) {
  if (series->meeting) series->now = probe_state(series->meeting, series->side);
}

/* Of `wanted` batches, and up to half as many more if those were on shared cores; by both sides of the
 * meeting. */
static inline void series_begin(struct series* series, int wanted, struct meeting* meeting, int side) {
  series->meeting = meeting;
  series->side = side;
  series->wanted = wanted;
  series->count = 0;
  series->begun_ns = now_ns();
  series->now.line_ns = 0;
  series->now.is_shared = false;
  series_probe(series);
}

static inline bool series_is_of(const struct series* series, int batch, bool is_shared) {
  return series->before[batch].is_shared == is_shared && series->after[batch].is_shared == is_shared;
}

static inline int series_count(const struct series* series, bool is_shared) {
  int count = 0;
  for (int b = 0; b < series->count; b++) count += series_is_of(series, b, is_shared);
  return count;
}

enum series_verdict { series_is_done, series_goes_on, series_waits };

/* Of side 0. Who has enough from shared cores waits a while for whole ones. */
static inline enum series_verdict series_judge(const struct series* series) {
  const double patience_ns = 0.3e9;
  if (series->count < series->wanted) return series_goes_on;
  if (series_count(series, false) >= series->wanted / 2 || series->count >= series->wanted * 3 / 2 ||
      now_ns() - series->begun_ns > patience_ns)
    return series_is_done;
  return series->now.is_shared ? series_waits : series_goes_on;
}

/* Whether there is to be another batch: asked before each, by both sides. */
static inline bool series_has_next(struct series* series) {
  if (series->meeting == NULL) return series->count < series->wanted;
  for (;;) {
    int verdict = agreed(series->meeting, series->side, series->side == 0 ? (int)series_judge(series) : 0);
    if (verdict != series_waits) return verdict == series_goes_on;
    series_probe(series);
  }
}

static inline void series_add(struct series* series, double value) {
  series->values[series->count] = value;
  series->before[series->count] = series->now;
  series_probe(series);
  series->after[series->count] = series->now;
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
    if (series_is_of(series, b, is_shared)) lines[of_kind++] = series->after[b].line_ns;
  double line = of_kind > 0 ? median(lines, of_kind) : 0;
  for (int b = 0; b < series->count; b++) {
    const struct state *before = &series->before[b], *after = &series->after[b];
    if (series_is_of(series, b, is_shared) && before->line_ns <= line * flipped &&
        after->line_ns <= line * flipped && before->line_ns * flipped >= line &&
        after->line_ns * flipped >= line)
      values[count++] = series->values[b];
  }
  if (count < series->wanted / 2) return;
  printf("%s %ld %.5g %s", figure, x, median(values, count), unit);
  if (series->meeting) printf(" %.4g %s", line, is_shared ? "shared" : "whole");
  printf("\n");
  fflush(stdout);
}

static inline void series_print(const struct series* series, const char* figure, long x, const char* unit) {
  series_print_of(series, false, figure, x, unit);
  series_print_of(series, true, figure, x, unit);
}

#endif
