/* An iterative solver: heat in a bar. When a rank has died the others share the bar anew and begin again from
 * the last state that all had given to the first of them that live, bit by bit with the same answer as on one
 * rank. */
#include "ulfm_check.h"

enum { cells = 600, steps = 300, steps_between_states = 50 };

static double start_of(int cell) { return (double)((cell * 7919) % 1000) / 1000.0; }

static void step(const double* old, double* now, int count) {
  for (int i = 1; i <= count; ++i) now[i] = old[i] + 0.25 * (old[i - 1] - 2.0 * old[i] + old[i + 1]);
}

/* Gives the number of steps that went well, with the state after them in `state`, on all ranks the same. */
static int run(MPI_Comm comm, int done, double* state) {
  int size, me;
  MPI_Comm_size(comm, &size);
  MPI_Comm_rank(comm, &me);
  const int first = cells * me / size, count = cells * (me + 1) / size - first;
  int counts[64], places[64];
  for (int i = 0; i < size; ++i) {
    places[i] = cells * i / size;
    counts[i] = cells * (i + 1) / size - places[i];
  }
  static double old[cells + 2], now[cells + 2], whole[cells];
  memcpy(old + 1, state + first, sizeof(double) * (size_t)count);
  for (int i = done; i < steps; ++i) {
    const int left = me == 0 ? MPI_PROC_NULL : me - 1, right = me == size - 1 ? MPI_PROC_NULL : me + 1;
    old[0] = old[1];
    old[count + 1] = old[count];
    int code = MPI_Sendrecv(old + 1, 1, MPI_DOUBLE, left, 1, old + count + 1, 1, MPI_DOUBLE, right, 1, comm,
                            MPI_STATUS_IGNORE);
    if (!is_loss(code))
      code = MPI_Sendrecv(old + count, 1, MPI_DOUBLE, right, 2, old, 1, MPI_DOUBLE, left, 2, comm,
                          MPI_STATUS_IGNORE);
    if (is_loss(code)) {
      // So that nobody waits for whoever has gone to agree.
      OK(MPIX_Comm_revoke(comm));
      break;
    }
    step(old, now, count);
    memcpy(old + 1, now + 1, sizeof(double) * (size_t)count);
    if ((i + 1) % steps_between_states != 0) continue;
    code = MPI_Allgatherv(old + 1, count, MPI_DOUBLE, whole, counts, places, MPI_DOUBLE, comm);
    if (is_loss(code)) OK(MPIX_Comm_revoke(comm));
    if (!all_did_well(comm, code == MPI_SUCCESS)) return done;
    memcpy(state, whole, sizeof whole);
    done = i + 1;
  }
  if (done < steps) (void)all_did_well(comm, 0);
  return done;
}

int main(int argc, char** argv) {
  static double state[cells], expected[cells + 2], next[cells + 2];
  begin_ulfm(&argc, &argv, "ulfm_solver");
  for (int i = 0; i < cells; ++i) state[i] = expected[i + 1] = start_of(i);
  MPI_Comm comm;
  OK(MPIX_Comm_shrink(MPI_COMM_WORLD, &comm));
  for (int done = run(comm, 0, state); done < steps; done = run(comm, done, state)) {
    MPI_Comm smaller;
    OK(MPIX_Comm_shrink(comm, &smaller));
    OK(MPI_Comm_free(&comm));
    comm = smaller;
  }
  for (int i = 0; i < steps; ++i) {
    expected[0] = expected[1];
    expected[cells + 1] = expected[cells];
    step(expected, next, cells);
    memcpy(expected + 1, next + 1, sizeof(double) * cells);
  }
  CHECK(memcmp(state, expected + 1, sizeof state) == 0);
  return end_ulfm();
}
