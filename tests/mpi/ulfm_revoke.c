/* One rank revokes a communicator: all members hear of it, wherever they wait, also if it then dies. Where a
 * rank dies before it has revoked, those who wait for it hear of its death, and revoke in its place. */
#include "ulfm_check.h"

/* Whether this member has died, or with MPI_ANY_SOURCE any. */
static int has_died(MPI_Comm comm, int member) {
  MPI_Group all, failed;
  int count, place = MPI_UNDEFINED;
  OK(MPIX_Comm_get_failed(comm, &failed));
  MPI_Group_size(failed, &count);
  if (member != MPI_ANY_SOURCE) {
    OK(MPI_Comm_group(comm, &all));
    MPI_Group_translate_ranks(all, 1, &member, failed, &place);
    MPI_Group_free(&all);
  }
  MPI_Group_free(&failed);
  return member == MPI_ANY_SOURCE ? count > 0 : place != MPI_UNDEFINED;
}

/* What the wait ended with. */
static int wait_in_vain(MPI_Comm comm, int me) {
  const int other = me == 1 ? 2 : 1;
  int value = 0, flag = 0, code = MPI_SUCCESS;
  MPI_Request request;
  switch (me % 4) {
    case 0:
      code = MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 7, comm, MPI_STATUS_IGNORE);
      break;
    case 1:
      code = MPI_Barrier(comm);
      break;
    case 2:
      code = MPI_Irecv(&value, 1, MPI_INT, other, 7, comm, &request);
      if (code == MPI_SUCCESS) {
        while (code == MPI_SUCCESS && !flag) code = MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        CHECK(request == MPI_REQUEST_NULL);
      }
      break;
    default:
      code = MPI_Probe(other, 7, comm, MPI_STATUS_IGNORE);
      break;
  }
  CHECK(is_loss(code));
  if (class_of(code) != MPIX_ERR_REVOKED) CHECK(has_died(comm, me % 4 < 2 ? MPI_ANY_SOURCE : other));
  return code;
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

/* A revoked communicator does nothing to those that are made when it is gone, whatever they use again of it.
 * They are made by MPI_Comm_split, which fails once a member has died: under SHRINK MPI_Comm_dup would go on
 * with those of the others that have not left this function yet. */
static int revoke_many(int rounds) {
  for (int round = 0; round < rounds; ++round) {
    MPI_Comm kept, revoked;
    int value = 1, sum;
    if (is_loss(MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &kept)) ||
        is_loss(MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &revoked)))
      return 0;
    for (int i = 0; i < 5; ++i)
      if (is_loss(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, revoked))) return 0;
    if (is_loss(MPI_Barrier(kept))) return 0;
    if (rank == ranks - 1) OK(MPIX_Comm_revoke(revoked));
    const int end = MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, revoked);
    CHECK(is_loss(end));
    if (class_of(end) != MPIX_ERR_REVOKED) {
      CHECK(has_died(revoked, MPI_ANY_SOURCE));
      return 0;
    }
    for (int i = 0; i < 5; ++i) {
      const int code = MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, kept);
      CHECK(class_of(code) != MPIX_ERR_REVOKED);
      if (is_loss(code)) return 0;
    }
    OK(MPI_Comm_free(&kept));
    OK(MPI_Comm_free(&revoked));
  }
  return 1;
}

/* Where a member has died, each call fails at once; nevertheless all hear that somebody has revoked it. */
static void hear_of_revocation(MPI_Comm comm) {
  MPI_Comm living;
  int me, code, flag;
  OK(MPIX_Comm_shrink(comm, &living));
  MPI_Comm_rank(living, &me);
  do {
    code = MPI_Barrier(comm);
    if (me == 0 || is_loss(MPI_Iprobe(0, 9, living, &flag, MPI_STATUS_IGNORE))) MPIX_Comm_revoke(comm);
  } while (class_of(code) != MPIX_ERR_REVOKED);
  OK(MPI_Comm_free(&living));
}

/* The predefined one: who waits for a rank that lives hears of it. */
static void revoke_world(void) {
  MPI_Comm living;
  int first = rank, me, value = 0;
  OK(MPIX_Comm_shrink(MPI_COMM_WORLD, &living));
  MPI_Comm_rank(living, &me);
  const int lost = is_loss(MPI_Bcast(&first, 1, MPI_INT, 0, living));
  if (me == 0) {
    OK(MPIX_Comm_revoke(MPI_COMM_WORLD));
  } else if (!lost) {
    CHECK(is_loss(MPI_Recv(&value, 1, MPI_INT, first, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE)));
  }
  OK(MPI_Comm_free(&living));
}

int main(int argc, char** argv) {
  begin_ulfm(&argc, &argv, "ulfm_revoke");
  MPI_Comm whole;
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &whole));
  (void)revoke_many(500);
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
    } else if (class_of(wait_in_vain(comm, me)) == MPIX_ERR_PROC_FAILED) {
      OK(MPIX_Comm_revoke(comm));
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
  hear_of_revocation(whole);
  revoke_world();
  OK(MPI_Comm_free(&whole));
  return end_ulfm();
}
