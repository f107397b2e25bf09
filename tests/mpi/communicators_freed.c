/* More communicators with members on several nodes than any rank can have at a time, one after the other,
 * each with a collective of its own. What a freed one had is used again. */
#include "check.h"

/* More than the logs of one rank that another may follow, by some. */
enum { rounds = 4600, tags = 40 };

int main(int argc, char** argv) {
  MPI_Group group;
  begin("communicators_freed", &argc, &argv);
  OK(MPI_Comm_group(MPI_COMM_WORLD, &group));
  for (int round = 0; round < rounds; round++) {
    MPI_Comm comm;
    int value = rank + round, sum = 0;
    /* These have channels of their own, which no other communicator takes over. */
    OK(MPI_Comm_create_group(MPI_COMM_WORLD, group, round % tags, &comm));
    if (round % 3 == 0) {
      OK(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm));
      CHECK_EQ(sum, ranks * (ranks - 1) / 2 + ranks * round);
    } else {
      /* Who gives only does not wait for the others, and frees its communicator before they have it. */
      const int root = round % ranks;
      OK(MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, root, comm));
      if (rank == root) CHECK_EQ(sum, ranks * (ranks - 1) / 2 + ranks * round);
    }
    OK(MPI_Comm_free(&comm));
  }
  OK(MPI_Group_free(&group));
  return finish();
}
