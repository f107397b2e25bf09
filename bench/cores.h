/* The cores that this process may use, and one of them for a thread. */
#ifndef LLAMADA_BENCH_CORES_H
#define LLAMADA_BENCH_CORES_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sched.h>

static inline int count_cores(void) {
  cpu_set_t allowed;
  return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 0;
}

/* The one of that number, from 0; -1: there are not so many. */
static inline int allowed_core(int number) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return -1;
  for (int core = 0; core < CPU_SETSIZE; core++)
    if (CPU_ISSET(core, &allowed) && number-- == 0) return core;
  return -1;
}

/* The thread that calls this. */
static inline void pin(int core) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  sched_setaffinity(0, sizeof one, &one);
}

#endif
