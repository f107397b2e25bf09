/* What machine.c and bare.c share: two threads, each on a core of its own. */
#ifndef LLAMADA_TWO_CORES_H
#define LLAMADA_TWO_CORES_H

#include "cores.h"

#include <pthread.h>

#include "state.h"

/* The first two cores that this process may use. */
static int cores[2];

static inline int choose_cores(void) {
  for (int i = 0; i < 2; i++) cores[i] = allowed_core(i);
  return cores[1] >= 0;
}

#endif
