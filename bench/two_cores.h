/* What machine.c and bare.c share: two threads, each on a core of its own. */
#ifndef LLAMADA_TWO_CORES_H
#define LLAMADA_TWO_CORES_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

/* The first two cores that this process may use. */
static int cores[2];

static inline int choose_cores(void) {
  cpu_set_t allowed;
  int found = 0;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 0;
  for (int core = 0; core < CPU_SETSIZE && found < 2; core++)
    if (CPU_ISSET(core, &allowed)) cores[found++] = core;
  return found == 2;
}

static inline void pin(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

static inline double now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static inline int ascending(const void* a, const void* b) {
  double difference = *(const double*)a - *(const double*)b;
  return (difference > 0) - (difference < 0);
}

static inline double median(double* values, int count) {
  qsort(values, (size_t)count, sizeof(double), ascending);
  return values[count / 2];
}

#endif
