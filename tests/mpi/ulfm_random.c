/* ulfm_random SEED ROUNDS: operations that are drawn, while ranks are killed. All that live draw the same
 * ones, and remake their communicator when one has failed. Checked: no call hangs, collectives that go well
 * have right results, agreements are the same on all that live, and no message is wrong. */
#include "ulfm_check.h"

static uint64_t course; /* the same on all ranks */

static uint32_t draw(uint32_t below) {
  course = course * 6364136223846793005ull + 1442695040888963407ull;
  return (uint32_t)(course >> 33) % below;
}

/* What each rank draws for itself; it need not be what others draw. */
static uint32_t draw_alone(uint32_t round, uint32_t below) {
  return pattern((uint32_t)rank, round, 77) % below;
}

static uint32_t digest; /* of all that was agreed on: the same on all that live */

static void note(uint32_t value) { digest = pattern(digest, value, 1); }

static int pass_around(MPI_Comm comm, int size, int me, int length) {
  int* out = malloc(sizeof(int) * (size_t)length);
  int* in = malloc(sizeof(int) * (size_t)length);
  MPI_Request requests[2];
  MPI_Status statuses[2];
  const int right = (me + 1) % size, left = (me + size - 1) % size;
  fill(out, length, (uint32_t)me, (uint32_t)length);
  OK(MPI_Irecv(in, length, MPI_INT, left, 4, comm, &requests[0]));
  int code = MPI_Isend(out, length, MPI_INT, right, 4, comm, &requests[1]);
  int well = !is_loss(code);
  if (!well) {
    MPI_Cancel(&requests[0]);
    (void)is_loss(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
  } else {
    code = MPI_Waitall(2, requests, statuses);
    well = code == MPI_SUCCESS;
    if (!well) {
      CHECK_EQ(class_of(code), MPI_ERR_IN_STATUS);
      CHECK(is_loss(statuses[0].MPI_ERROR) || is_loss(statuses[1].MPI_ERROR));
    }
  }
  if (well) CHECK(filled(in, length, (uint32_t)left, (uint32_t)length));
  free(out);
  free(in);
  return well;
}

static int gather_by_messages(MPI_Comm comm, int size, int me) {
  int value = me * 3;
  const int root = (int)draw((uint32_t)size);
  if (me != root) return !is_loss(MPI_Ssend(&value, 1, MPI_INT, root, 9, comm));
  for (int i = 1; i < size; ++i) {
    MPI_Status status;
    if (is_loss(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 9, comm, &status))) return 0;
    CHECK_EQ(value, status.MPI_SOURCE * 3);
  }
  return 1;
}

static int reduce_all(MPI_Comm comm, int size, int me) {
  const int length = 1 + (int)draw(30000);
  int* values = malloc(sizeof(int) * (size_t)length);
  for (int i = 0; i < length; ++i) values[i] = me + i;
  const int well = !is_loss(MPI_Allreduce(MPI_IN_PLACE, values, length, MPI_INT, MPI_SUM, comm));
  for (int i = 0; well && i < length; ++i) CHECK_EQ(values[i], size * (size - 1) / 2 + size * i);
  free(values);
  return well;
}

static int exchange_all(MPI_Comm comm, int size, int me) {
  int out[64], in[64];
  for (int i = 0; i < size; ++i) out[i] = me * 100 + i;
  if (is_loss(MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm))) return 0;
  for (int i = 0; i < size; ++i) CHECK_EQ(in[i], i * 100 + me);
  return 1;
}

static int split_and_meet(MPI_Comm comm, int me) {
  MPI_Comm part;
  const int made = !is_loss(MPI_Comm_split(comm, me % 2, me, &part));
  /* Whoever has no part does not come, and would be waited for in the others' parts. */
  if (!all_did_well(comm, made)) {
    if (made) OK(MPI_Comm_free(&part));
    return 0;
  }
  const int well = !is_loss(MPI_Barrier(part));
  OK(MPI_Comm_free(&part));
  return well;
}

static int agree_on_something(MPI_Comm comm) {
  int flag = ~0;
  const int code = MPIX_Comm_agree(comm, &flag);
  CHECK_EQ(flag, ~0);
  note(code == MPI_SUCCESS);
  return !is_loss(code);
}

static int do_something(MPI_Comm comm) {
  int size, me;
  MPI_Comm_size(comm, &size);
  MPI_Comm_rank(comm, &me);
  switch (draw(7)) {
    case 0:
      return size == 1 || pass_around(comm, size, me, 1 + (int)draw(60000));
    case 1:
      return gather_by_messages(comm, size, me);
    case 2:
      return reduce_all(comm, size, me);
    case 3:
      return exchange_all(comm, size, me);
    case 4:
      return split_and_meet(comm, me);
    case 5:
      return agree_on_something(comm);
    default:
      return !is_loss(MPI_Barrier(comm));
  }
}

int main(int argc, char** argv) {
  begin_ulfm(&argc, &argv, "ulfm_random");
  CHECK(argc == 3);
  const uint64_t seed = strtoull(argv[1], NULL, 10);
  const uint32_t rounds = (uint32_t)atoi(argv[2]);
  MPI_Comm comm;
  OK(MPIX_Comm_shrink(MPI_COMM_WORLD, &comm));
  for (uint32_t round = 0; round < rounds; ++round) {
    course = seed * 1000003ull + round;
    (void)draw(2);
    const int well = do_something(comm);
    /* Others may wait for what this rank does not do any more. */
    if (!well || draw_alone(round, 200) == 0) OK(MPIX_Comm_revoke(comm));
    const int all_well = all_did_well(comm, well);
    note((uint32_t)all_well);
    int revoked = 0;
    OK(MPIX_Comm_is_revoked(comm, &revoked));
    /* Who has done well may have revoked it by chance: then it is of no use to anybody. */
    if (all_did_well(comm, all_well && !revoked)) continue;
    MPI_Comm smaller;
    OK(MPIX_Comm_shrink(comm, &smaller));
    CHECK_EQ(members_of(smaller) & ~members_of(comm), 0);
    OK(MPI_Comm_free(&comm));
    comm = smaller;
    note((uint32_t)members_of(comm));
  }
  /* The last check is done again and again, until nobody dies in it. */
  for (;;) {
    uint32_t highest = 0, lowest = 0;
    int well = !is_loss(MPI_Allreduce(&digest, &highest, 1, MPI_UINT32_T, MPI_MAX, comm)) &&
               !is_loss(MPI_Allreduce(&digest, &lowest, 1, MPI_UINT32_T, MPI_MIN, comm));
    if (well) CHECK_EQ(highest, lowest);
    if (!well) OK(MPIX_Comm_revoke(comm));
    if (all_did_well(comm, well)) break;
    MPI_Comm smaller;
    OK(MPIX_Comm_shrink(comm, &smaller));
    OK(MPI_Comm_free(&comm));
    comm = smaller;
  }
  OK(MPI_Comm_free(&comm));
  return end_ulfm();
}
