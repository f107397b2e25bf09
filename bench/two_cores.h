/* What machine.c and bare.c share: two threads, each on a core of its own. */
#ifndef LLAMADA_TWO_CORES_H
#define LLAMADA_TWO_CORES_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <sched.h>

#include "state.h"

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

#endif
