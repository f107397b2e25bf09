/* Windows made and freed by several threads at once, each on a communicator of its own of the same ranks:
 * what one window leaves behind is taken for another thread's, not in the same order by all ranks; MPI 12.4.
 */
#include "threads.h"

static MPI_Comm comms[THREADS];

static void windows(int thread) {
  const int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
  for (int round = 0; round < 60; round++) {
    const int size = 8 + round % 5 * 1000, value = rank * THREADS + thread;
    char* memory;
    MPI_Win win;
    OK(MPI_Win_allocate(size, 1, MPI_INFO_NULL, comms[thread], &memory, &win));
    for (int i = 0; i < size && is_strict(); i++) CHECK_EQ(memory[i], 0);
    OK(MPI_Win_fence(0, win));
    OK(MPI_Put(&value, 1, MPI_INT, next, 4, 1, MPI_INT, win));
    OK(MPI_Win_fence(0, win));
    CHECK_EQ(((int*)memory)[1], previous * THREADS + thread);
    memset(memory, 7, size);
    OK(MPI_Win_free(&win));
  }
}

int main(int argc, char** argv) {
  begin_threads("threads_rma", &argc, &argv);
  for (int t = 0; t < THREADS; t++) OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]));
  in_threads(THREADS, windows);
  for (int t = 0; t < THREADS; t++) OK(MPI_Comm_free(&comms[t]));
  return finish();
}
