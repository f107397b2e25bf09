/* Agreements while ranks die: all that live have the same answers, which are those of all that live. */
#include "ulfm_check.h"

enum { rounds = 40 };

static int flags_of(int world_rank, int round) {
  return ~0 & ~((round + world_rank) % 3 == 0 ? 1 << (world_rank % 30) : 0);
}

/* Everybody goes on after an error, so that all call the same number of agreements. */
static void agree(int round, int values[], int codes[]) {
  int flag = flags_of(rank, round);
  codes[round] = MPIX_Comm_agree(MPI_COMM_WORLD, &flag);
  values[round] = flag;
  if (codes[round] == MPI_SUCCESS) return;
  CHECK_EQ(class_of(codes[round]), MPIX_ERR_PROC_FAILED);
  OK(MPIX_Comm_failure_ack(MPI_COMM_WORLD));
}

static void agree_later(int round, int values[], int codes[]) {
  MPI_Request request;
  values[round] = flags_of(rank, round);
  OK(MPIX_Comm_iagree(MPI_COMM_WORLD, &values[round], &request));
  codes[round] = MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(request == MPI_REQUEST_NULL);
  if (codes[round] == MPI_SUCCESS) return;
  CHECK_EQ(class_of(codes[round]), MPIX_ERR_PROC_FAILED);
  OK(MPIX_Comm_failure_ack(MPI_COMM_WORLD));
}

static void check_answers(MPI_Comm living, const int values[], const int codes[]) {
  int size;
  MPI_Comm_size(living, &size);
  int* all = malloc(sizeof(int) * 2 * rounds * (size_t)size);
  int own[2 * rounds];
  memcpy(own, values, sizeof(int) * rounds);
  memcpy(own + rounds, codes, sizeof(int) * rounds);
  OK(MPI_Allgather(own, 2 * rounds, MPI_INT, all, 2 * rounds, MPI_INT, living));
  const unsigned long long members = members_of(living);
  for (int member = 0; member < size; ++member)
    CHECK(memcmp(all + (size_t)member * 2 * rounds, own, sizeof own) == 0);
  for (int round = 0; round < rounds; ++round)
    for (int other = 0; other < ranks; ++other)
      if (members >> other & 1) CHECK_EQ(values[round] & ~flags_of(other, round), 0);
  free(all);
}

int main(int argc, char** argv) {
  int values[rounds], codes[rounds];
  begin_ulfm(&argc, &argv, "ulfm_agree");
  for (int round = 0; round < rounds; ++round) (round % 4 == 3 ? agree_later : agree)(round, values, codes);
  MPI_Comm living;
  MPI_Request request;
  OK(MPIX_Comm_ishrink(MPI_COMM_WORLD, &living, &request));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  check_answers(living, values, codes);
  return end_ulfm();
}
