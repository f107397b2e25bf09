/* The time stamp counter, which nobody can record, goes into messages: a replay must be found to diverge.
 * Each rank keeps a digest of all it was told, so that a wrong answer would be seen as well. */
#include "program.h"

int main(int argc, char** argv) {
  begin(argc, argv);
  uint64_t sent = 0, told = 0;
  int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
  for (int step = 0; step < steps; step++) {
    uint64_t stamp = __builtin_ia32_rdtsc(), got;
    sent = mix(sent, stamp);
    MPI_Sendrecv(&stamp, 1, MPI_UINT64_T, right, 0, &got, 1, MPI_UINT64_T, left, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    told = mix(told, got);
    pause_step();
  }
  uint64_t truth;
  MPI_Sendrecv(&sent, 1, MPI_UINT64_T, right, 0, &truth, 1, MPI_UINT64_T, left, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  CHECK(truth == told);
  return finish("nondeterministic");
}
