/* A master takes answers from any worker while workers die: it is told, acknowledges, and goes on with the
 * others. */
#include "ulfm_check.h"

enum { answers = 40, tag_answer = 5, tag_go = 6 };

/* Each worker sends so many answers, the next when the master says so. */
static void work(void) {
  for (int i = 0; i < answers; ++i) {
    int value = rank * 1000 + i;
    if (is_loss(MPI_Send(&value, 1, MPI_INT, 0, tag_answer, MPI_COMM_WORLD))) return;
    if (is_loss(MPI_Recv(&value, 1, MPI_INT, 0, tag_go, MPI_COMM_WORLD, MPI_STATUS_IGNORE))) return;
    CHECK_EQ(value, i);
  }
}

static int failed_count(int acknowledged) {
  MPI_Group group;
  int size = 0;
  OK((acknowledged ? MPIX_Comm_failure_get_acked : MPIX_Comm_get_failed)(MPI_COMM_WORLD, &group));
  MPI_Group_size(group, &size);
  if (group != MPI_GROUP_EMPTY) MPI_Group_free(&group);
  return size;
}

static int is_done(const int got[]) {
  MPI_Group world, failed;
  int size, done = 0;
  OK(MPIX_Comm_failure_get_acked(MPI_COMM_WORLD, &failed));
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  for (int worker = 1; worker < ranks; ++worker) {
    int place = MPI_UNDEFINED;
    MPI_Group_translate_ranks(world, 1, &worker, failed, &place);
    done += got[worker] == answers || place != MPI_UNDEFINED;
  }
  MPI_Group_size(failed, &size);
  CHECK(size < ranks);
  MPI_Group_free(&world);
  if (failed != MPI_GROUP_EMPTY) MPI_Group_free(&failed);
  return done == ranks - 1;
}

static void acknowledge(void) {
  int count = 0;
  const int known = failed_count(0);
  CHECK(known > 0);
  OK(MPIX_Comm_ack_failed(MPI_COMM_WORLD, 0, &count));
  CHECK(count <= known);
  OK(MPIX_Comm_ack_failed(MPI_COMM_WORLD, known, &count));
  CHECK(count >= known);
  CHECK_EQ(failed_count(1), count);
}

static void master(void) {
  int got[64] = {0}, value = 0;
  while (!is_done(got)) {
    MPI_Status status;
    MPI_Request request;
    OK(MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, tag_answer, MPI_COMM_WORLD, &request));
    int code = MPI_Wait(&request, &status);
    while (class_of(code) == MPIX_ERR_PROC_FAILED_PENDING) {
      CHECK(request != MPI_REQUEST_NULL);
      acknowledge();
      if (is_done(got)) {
        OK(MPI_Cancel(&request));
        OK(MPI_Wait(&request, &status));
        int cancelled = 0;
        MPI_Test_cancelled(&status, &cancelled);
        if (cancelled) return;
        code = MPI_SUCCESS;  // an answer came first
        break;
      }
      code = MPI_Wait(&request, &status);
    }
    CHECK_EQ(code, MPI_SUCCESS);
    const int worker = status.MPI_SOURCE;
    CHECK_EQ(value, worker * 1000 + got[worker]);
    (void)is_loss(MPI_Send(&got[worker], 1, MPI_INT, worker, tag_go, MPI_COMM_WORLD));
    ++got[worker];
  }
  /* Once acknowledged, a blocking receive from any source is about those that live. */
  if (failed_count(0) > failed_count(1)) acknowledge();
  value = 77;
  MPI_Request request;
  OK(MPI_Isend(&value, 1, MPI_INT, 0, tag_answer, MPI_COMM_WORLD, &request));
  int code = MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, tag_answer, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(code == MPI_SUCCESS || class_of(code) == MPIX_ERR_PROC_FAILED);
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

int main(int argc, char** argv) {
  begin_ulfm(&argc, &argv, "ulfm_any_source");
  if (rank == 0)
    master();
  else
    work();
  return end_ulfm();
}
