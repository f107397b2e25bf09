/* One rank revokes a communicator: all members hear of it, wherever they wait, also if it then dies. */
#include "ulfm_check.h"

static void wait_in_vain(MPI_Comm comm, int me) {
  int value = 0, flag = 0, code = MPI_SUCCESS;
  MPI_Request request;
  switch (me % 4) {
    case 0:
      CHECK_EQ(class_of(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 7, comm, MPI_STATUS_IGNORE)),
               MPIX_ERR_REVOKED);
      break;
    case 1:
      CHECK(is_loss(MPI_Barrier(comm)));
      break;
    case 2:
      code = MPI_Irecv(&value, 1, MPI_INT, me == 1 ? 2 : 1, 7, comm, &request);
      if (code == MPI_SUCCESS) {
        while (code == MPI_SUCCESS && !flag) code = MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        CHECK(request == MPI_REQUEST_NULL);
      }
      CHECK_EQ(class_of(code), MPIX_ERR_REVOKED);
      break;
    default:
      CHECK_EQ(class_of(MPI_Probe(me == 1 ? 2 : 1, 7, comm, MPI_STATUS_IGNORE)), MPIX_ERR_REVOKED);
      break;
  }
}

static void check_revoked(MPI_Comm comm) {
  int value = 0, flag = 0, me, size;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &size);
  OK(MPIX_Comm_is_revoked(comm, &flag));
  CHECK(flag);
  CHECK_EQ(class_of(MPI_Send(&value, 1, MPI_INT, me, 3, comm)), MPIX_ERR_REVOKED);
  CHECK_EQ(class_of(MPI_Recv(&value, 1, MPI_INT, me, 3, comm, MPI_STATUS_IGNORE)), MPIX_ERR_REVOKED);
  CHECK_EQ(class_of(MPI_Iprobe(me, 3, comm, &flag, MPI_STATUS_IGNORE)), MPIX_ERR_REVOKED);
  CHECK_EQ(class_of(MPI_Barrier(comm)), MPIX_ERR_REVOKED);
  MPI_Comm copy;
  CHECK_EQ(class_of(MPI_Comm_split(comm, 0, 0, &copy)), MPIX_ERR_REVOKED);
}

int main(int argc, char** argv) {
  begin_ulfm(&argc, &argv, "ulfm_revoke");
  for (int round = 0; round < 3; ++round) {
    MPI_Comm comm, smaller;
    int me = 0, flag = 0;
    OK(MPIX_Comm_shrink(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_rank(comm, &me));
    OK(MPIX_Comm_is_revoked(comm, &flag));
    if (me == 0) {
      OK(MPIX_Comm_revoke(comm));
      OK(MPIX_Comm_revoke(comm));            // nothing more happens
      OK(MPI_Comm_test_inter(comm, &flag));  // where it may be killed
    } else {
      wait_in_vain(comm, me);
    }
    check_revoked(comm);
    // What else is there goes on.
    OK(MPIX_Comm_shrink(comm, &smaller));
    (void)is_loss(MPI_Barrier(smaller));
    OK(MPIX_Comm_is_revoked(smaller, &flag));
    CHECK(!flag);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Comm_free(&smaller));
  }
  return end_ulfm();
}
