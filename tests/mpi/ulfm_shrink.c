/* Collectives fail when a member has died; those that live make a communicator of their own and go on. */
#include "ulfm_check.h"

enum { rounds = 60, long_length = 20000 };

static int is_right(MPI_Comm comm, int round) {
  int size, me, sum = -1;
  MPI_Comm_size(comm, &size);
  MPI_Comm_rank(comm, &me);
  int given = me + round;
  int code = MPI_Allreduce(&given, &sum, 1, MPI_INT, MPI_SUM, comm);
  if (is_loss(code)) return 0;
  CHECK_EQ(sum, size * (size - 1) / 2 + size * round);
  static int values[long_length];
  const int root = round % size;
  for (int i = 0; i < long_length; ++i) values[i] = me == root ? i ^ round : -1;
  code = MPI_Bcast(values, long_length, MPI_INT, root, comm);
  if (is_loss(code)) return 0;
  for (int i = 0; i < long_length; ++i) CHECK_EQ(values[i], i ^ round);
  MPI_Request request;
  code = MPI_Ibarrier(comm, &request);
  if (is_loss(code)) return 0;
  return !is_loss(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

int main(int argc, char** argv) {
  begin_ulfm(&argc, &argv, "ulfm_shrink");
  MPI_Comm comm;
  OK(MPIX_Comm_shrink(MPI_COMM_WORLD, &comm));
  for (int round = 0; round < rounds;) {
    const int well = is_right(comm, round);
    if (all_did_well(comm, well)) {
      ++round;
      continue;
    }
    MPI_Comm smaller;
    OK(MPIX_Comm_shrink(comm, &smaller));
    CHECK_EQ(members_of(smaller) & ~members_of(comm), 0);
    OK(MPI_Comm_free(&comm));
    comm = smaller;
  }
  OK(MPI_Comm_free(&comm));
  return end_ulfm();
}
