/* Every rank writes numbered lines to stdout without flushing, in pieces of all sizes: not one may be lost or
 * doubled. */
#include "program.h"

int main(int argc, char** argv) {
  begin(argc, argv);
  uint64_t state = (uint64_t)rank;
  for (int step = 0; step < steps; step++) {
    state = mix(state, (uint64_t)step);
    printf("rank %d line %d %016llx%.*s\n", rank, step, (unsigned long long)state, (int)(state % 60),
           "............................................................");
    int token = step;
    MPI_Bcast(&token, 1, MPI_INT, step % ranks, MPI_COMM_WORLD);
    CHECK(token == step);
    if (state % 97 == 0) fflush(stdout);
    pause_step();
  }
  return finish("writer");
}
