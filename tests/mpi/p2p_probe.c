/* Probe, Iprobe, Mprobe's relatives are in p2p_mprobe.c; MPI 3.8.1. */
#include <unistd.h>

#include "check.h"

static void probe_named(int count) {
  int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
  int *out = allocate(sizeof(int) * (size_t)count), *in = allocate(sizeof(int) * (size_t)count);
  MPI_Request request;
  MPI_Status status;
  fill(out, count, (uint32_t)rank, 1);
  OK(MPI_Isend(out, count, MPI_INT, right, 17, MPI_COMM_WORLD, &request));
  OK(MPI_Probe(left, 17, MPI_COMM_WORLD, &status));
  CHECK(status_is(&status, left, 17, MPI_INT, count));
  OK(MPI_Probe(left, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
  CHECK(status_is(&status, left, 17, MPI_INT, count));
  int flag = 0;
  OK(MPI_Iprobe(left, 17, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
  CHECK(flag);
  OK(MPI_Iprobe(left, 18, MPI_COMM_WORLD, &flag, &status));
  CHECK(!flag);
  OK(MPI_Recv(in, count, MPI_INT, left, 17, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK(filled(in, count, (uint32_t)left, 1));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  OK(MPI_Iprobe(left, 17, MPI_COMM_WORLD, &flag, &status));
  CHECK(!flag);
  free(out);
  free(in);
}

/* Rank 0 takes messages of unknown size from anybody, as it finds them. */
static void probe_anybody(int use_iprobe) {
  enum { each = 40 };
  if (rank != 0) {
    for (int i = 0; i < each; i++) {
      int count = (int)(pattern((uint32_t)rank, (uint32_t)i, 0) % 3000);
      int* out = allocate(sizeof(int) * (size_t)count);
      fill(out, count, (uint32_t)rank, (uint32_t)i);
      OK(MPI_Send(out, count, MPI_INT, 0, i, MPI_COMM_WORLD));
      free(out);
    }
    return;
  }
  int* next = allocate(sizeof(int) * (size_t)ranks);
  for (int i = 0; i < each * (ranks - 1); i++) {
    MPI_Status status, received;
    int flag = 0, count;
    if (use_iprobe)
      while (!flag) OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status));
    else
      OK(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
    OK(MPI_Get_count(&status, MPI_INT, &count));
    int from = status.MPI_SOURCE;
    CHECK_EQ(status.MPI_TAG, next[from]);
    int* in = allocate(sizeof(int) * (size_t)count);
    OK(MPI_Recv(in, count, MPI_INT, from, status.MPI_TAG, MPI_COMM_WORLD, &received));
    CHECK(status_is(&received, from, status.MPI_TAG, MPI_INT, count));
    CHECK(filled(in, count, (uint32_t)from, (uint32_t)next[from]++));
    free(in);
  }
  free(next);
}

/* A round of the ranks that send to rank 0: 2 of itself, 1 when it is told to, and once more with tag `last`.
 */
static void come_one_after_the_other(int round, int last) {
  int words[2] = {0, 0};
  if (rank == 1) {
    OK(MPI_Recv(words, 0, MPI_INT, 0, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Send(words, 2, MPI_INT, 0, round, MPI_COMM_WORLD));
    OK(MPI_Send(words, 2, MPI_INT, 0, last, MPI_COMM_WORLD));
  } else if (rank == 2) {
    OK(MPI_Send(words, 1, MPI_INT, 0, round, MPI_COMM_WORLD));
    OK(MPI_Recv(words, 0, MPI_INT, 0, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  }
}

/* Of messages of several ranks, a receive from anybody takes what a probe for anybody found before it,
   whatever has come in between. Each round has three receives, so that the first is sooner or later any one
   of a row. */
static void probe_before_others_come(void) {
  enum { rounds = 192 };
  int words[2] = {0, 0};
  for (int i = 0; i < rounds; i++) {
    MPI_Status found, received;
    if (rank == 0) {
      OK(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found));
      CHECK(status_is(&found, 2, i, MPI_INT, 1));
      OK(MPI_Send(words, 0, MPI_INT, 1, i, MPI_COMM_WORLD));
      usleep(1000);
      OK(MPI_Recv(words, 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &received));
      CHECK(status_is(&received, 2, i, MPI_INT, 1));
      int left_of = received.MPI_SOURCE == 1 ? 2 : 1;
      OK(MPI_Recv(words, 2, MPI_INT, left_of, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      OK(MPI_Recv(words, 2, MPI_INT, 1, rounds, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      OK(MPI_Send(words, 0, MPI_INT, 2, i, MPI_COMM_WORLD));
    } else {
      come_one_after_the_other(i, rounds);
    }
  }
}

/* The same when other calls bring the others' messages in between, and when rank 0 dies there. */
static void probe_before_others_are_taken_in(void) {
  enum { rounds = 5 };
  int words[2] = {0, 0};
  for (int i = 0; i < rounds; i++) {
    MPI_Status found, received;
    int flag = 0;
    if (rank == 0) {
      while (i % 2 && !flag) OK(MPI_Iprobe(MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &flag, &found));
      if (i % 2 == 0) OK(MPI_Probe(MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &found));
      CHECK(status_is(&found, 2, i, MPI_INT, 1));
      OK(MPI_Ssend(words, 0, MPI_INT, 1, i, MPI_COMM_WORLD));
      OK(MPI_Recv(words, 2, MPI_INT, 1, rounds, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      OK(MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_WORLD, &words[0])); /* here it dies */
      OK(MPI_Recv(words, 2, MPI_INT, MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &received));
      CHECK(status_is(&received, 2, i, MPI_INT, 1));
      OK(MPI_Recv(words, 2, MPI_INT, MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &received));
      CHECK(status_is(&received, 1, i, MPI_INT, 2));
      OK(MPI_Send(words, 0, MPI_INT, 2, i, MPI_COMM_WORLD));
    } else {
      come_one_after_the_other(i, rounds);
    }
  }
}

/* A probe does not see what belongs to another communicator. */
static void probe_contexts(void) {
  MPI_Comm other;
  MPI_Request request;
  int flag, value = 9, got = 0;
  MPI_Status status;
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &other));
  OK(MPI_Isend(&value, 1, MPI_INT, rank, 0, other, &request));
  for (int i = 0; i < 100; i++) {
    OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
  }
  OK(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, other, &status));
  CHECK(status_is(&status, rank, 0, MPI_INT, 1));
  OK(MPI_Recv(&got, 1, MPI_INT, rank, 0, other, MPI_STATUS_IGNORE));
  CHECK_EQ(got, 9);
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  OK(MPI_Comm_free(&other));
}

/* A message that a posted receive takes is not there for a probe. */
static void probe_after_posted(void) {
  int values[2] = {1, 2}, got = 0, flag;
  MPI_Request requests[2], receive;
  OK(MPI_Irecv(&got, 1, MPI_INT, rank, 3, MPI_COMM_WORLD, &receive));
  OK(MPI_Isend(&values[0], 1, MPI_INT, rank, 3, MPI_COMM_WORLD, &requests[0]));
  OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
  CHECK_EQ(got, 1);
  OK(MPI_Iprobe(rank, 3, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
  CHECK(!flag);
  OK(MPI_Isend(&values[1], 1, MPI_INT, rank, 3, MPI_COMM_WORLD, &requests[1]));
  OK(MPI_Probe(rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  OK(MPI_Recv(&got, 1, MPI_INT, rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK_EQ(got, 2);
  OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
}

int main(int argc, char** argv) {
  begin("p2p_probe", &argc, &argv);
  const int counts[] = {0, 1, 50, 3000, 30000, 400000};
  for (int i = 0; i < 6; i++) {
    probe_named(counts[i]);
    OK(MPI_Barrier(MPI_COMM_WORLD));
  }
  probe_anybody(0);
  OK(MPI_Barrier(MPI_COMM_WORLD));
  probe_anybody(1);
  OK(MPI_Barrier(MPI_COMM_WORLD));
  if (ranks > 2) probe_before_others_come();
  if (ranks > 2) probe_before_others_are_taken_in();
  OK(MPI_Barrier(MPI_COMM_WORLD));
  probe_contexts();
  probe_after_posted();
  return finish();
}
