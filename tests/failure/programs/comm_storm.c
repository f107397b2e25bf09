/* Communicators are made, used and freed all the time. */
#include "program.h"

int main(int argc, char** argv) {
  begin(argc, argv);
  MPI_Comm kept = MPI_COMM_NULL;
  for (int step = 0; step < steps; step++) {
    MPI_Comm comm, inner;
    MPI_Comm_split(MPI_COMM_WORLD, (rank + step) % 2, step % 3 ? rank : -rank, &comm);
    MPI_Comm_dup(comm, &inner);
    int me, size, total = 0, mine = rank + step, expected = 0;
    MPI_Comm_rank(inner, &me);
    MPI_Comm_size(inner, &size);
    for (int r = rank % 2; r < ranks; r += 2) expected += r + step;
    MPI_Allreduce(&mine, &total, 1, MPI_INT, MPI_SUM, inner);
    CHECK(total == expected);
    int got = -1;
    MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % size, 0, &got, 1, MPI_INT, (me + size - 1) % size, 0, comm,
                 MPI_STATUS_IGNORE);
    CHECK(got == (me + size - 1) % size);
    if (kept != MPI_COMM_NULL) {
      MPI_Allreduce(&mine, &total, 1, MPI_INT, MPI_MAX, kept);
      CHECK(total == ranks - 1 + step);
      MPI_Comm_free(&kept);
    }
    if (step % 5 == 0) MPI_Comm_dup(MPI_COMM_WORLD, &kept);
    MPI_Comm_free(&inner);
    MPI_Comm_free(&comm);
    pause_step();
  }
  if (kept != MPI_COMM_NULL) MPI_Comm_free(&kept);
  return finish("comm_storm");
}
