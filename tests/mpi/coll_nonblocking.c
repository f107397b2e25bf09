/* Nonblocking collectives: started in order, completed in any; MPI 5.12. */
#include "check.h"

int main(int argc, char** argv) {
  begin("coll_nonblocking", &argc, &argv);
  enum { count = 5000 };
  for (int round = 0; round < 20; round++) {
    MPI_Request requests[4];
    int *data = allocate(sizeof(int) * count), *all = allocate(sizeof(int) * (size_t)ranks), sum = 0,
        mine = rank + round;
    int root = round % ranks;
    if (rank == root) fill(data, count, (uint32_t)round, 1);
    OK(MPI_Ibcast(data, count, MPI_INT, root, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[1]));
    OK(MPI_Iallgather(&mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, &requests[2]));
    OK(MPI_Ibarrier(MPI_COMM_WORLD, &requests[3]));
    if (round % 2)
      OK(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
    else
      for (int i = 3; i >= 0; i--)
        for (int flag = 0; !flag;) OK(MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE));
    CHECK(filled(data, count, (uint32_t)round, 1));
    CHECK_EQ(sum, ranks * (ranks - 1) / 2 + ranks * round);
    for (int r = 0; r < ranks; r++) CHECK_EQ(all[r], r + round);
    free(data);
    free(all);
  }
  return finish();
}
