/* Windows of every kind, for programs that say before what is in them: `element`, a type, and `elements`, how
 * many each rank has. At most 16 ranks. */
#pragma once

#include "check.h"

/* A window of `elements` elements for each rank, of one of the kinds, all zero. */
struct window {
  MPI_Win win;
  element* memory;
  MPI_Aint zero[16]; /* what displacement 0 is at a target */
  int dynamic;
};

static struct window make(int flavor) {
  struct window w = {MPI_WIN_NULL, NULL, {0}, flavor == MPI_WIN_FLAVOR_DYNAMIC};
  const MPI_Aint bytes = elements * (MPI_Aint)sizeof(element);
  if (flavor == MPI_WIN_FLAVOR_CREATE || w.dynamic) w.memory = allocate((size_t)bytes);
  if (flavor == MPI_WIN_FLAVOR_CREATE)
    OK(MPI_Win_create(w.memory, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w.win));
  else if (flavor == MPI_WIN_FLAVOR_ALLOCATE)
    OK(MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w.memory, &w.win));
  else if (flavor == MPI_WIN_FLAVOR_SHARED)
    OK(MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w.memory, &w.win));
  else {
    MPI_Aint here;
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &w.win));
    OK(MPI_Win_attach(w.win, w.memory, bytes));
    OK(MPI_Get_address(w.memory, &here));
    OK(MPI_Allgather(&here, 1, MPI_AINT, w.zero, 1, MPI_AINT, MPI_COMM_WORLD));
  }
  memset(w.memory, 0, (size_t)bytes);
  OK(MPI_Barrier(MPI_COMM_WORLD));
  return w;
}

static void end(struct window* w, int flavor) {
  OK(MPI_Barrier(MPI_COMM_WORLD));
  if (w->dynamic) OK(MPI_Win_detach(w->win, w->memory));
  OK(MPI_Win_free(&w->win));
  if (flavor == MPI_WIN_FLAVOR_CREATE || w->dynamic) free(w->memory);
}

/* The displacement of the target's element with this index. */
static MPI_Aint at(const struct window* w, int target, int index) {
  return w->zero[target] + index * (MPI_Aint)sizeof(element);
}
