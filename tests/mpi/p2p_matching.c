/* The order of matching; MPI 3.5: messages do not overtake, receives match in the order of posting, wildcards
 * and named receives share that order. Everything here is fixed by the standard, also with wildcards. */
#include "check.h"

static int right, left;

static void non_overtaking(int count) {
  enum { messages = 200 };
  int *in = allocate(sizeof(int) * (size_t)(count + 1)),
      *out = allocate(sizeof(int) * (size_t)(count + 1) * messages);
  MPI_Request sends[messages];
  for (int i = 0; i < messages; i++) {
    /* Sizes alternate, so that small messages could pass large ones. */
    int size = i % 2 ? 1 : count + 1;
    out[i * (count + 1)] = i;
    OK(MPI_Isend(out + i * (count + 1), size, MPI_INT, right, 4, MPI_COMM_WORLD, &sends[i]));
  }
  for (int i = 0; i < messages; i++) {
    OK(MPI_Recv(in, count + 1, MPI_INT, i % 3 ? left : MPI_ANY_SOURCE, i % 5 ? 4 : MPI_ANY_TAG,
                MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_EQ(in[0], i);
  }
  OK(MPI_Waitall(messages, sends, MPI_STATUSES_IGNORE));
  OK(MPI_Barrier(MPI_COMM_WORLD));
  free(in);
  free(out);
}

/* Posted in this order: (any, any), (left, 1), (any, 2), (left, any), (any, 1). Sent: 1 2 1 1 2. */
static void wildcards_and_names(int post_first) {
  int in[5] = {-1, -1, -1, -1, -1}, out[5] = {0, 1, 2, 3, 4};
  static const int tags[5] = {1, 2, 1, 1, 2};
  /* The first takes message 0 (tag 1), (left,1) message 2, (any,2) message 1, (left,any) message 3, and
   * (any,2) 4. */
  static const int expected[5] = {0, 2, 1, 3, 4};
  MPI_Request receives[5], sends[5];
  MPI_Status statuses[5];
  if (!post_first)
    for (int i = 0; i < 5; i++) OK(MPI_Isend(&out[i], 1, MPI_INT, right, tags[i], MPI_COMM_WORLD, &sends[i]));
  if (!post_first) OK(MPI_Barrier(MPI_COMM_WORLD));
  OK(MPI_Irecv(&in[0], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &receives[0]));
  OK(MPI_Irecv(&in[1], 1, MPI_INT, left, 1, MPI_COMM_WORLD, &receives[1]));
  OK(MPI_Irecv(&in[2], 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &receives[2]));
  OK(MPI_Irecv(&in[3], 1, MPI_INT, left, MPI_ANY_TAG, MPI_COMM_WORLD, &receives[3]));
  OK(MPI_Irecv(&in[4], 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &receives[4]));
  if (post_first) OK(MPI_Barrier(MPI_COMM_WORLD));
  if (post_first)
    for (int i = 0; i < 5; i++) OK(MPI_Isend(&out[i], 1, MPI_INT, right, tags[i], MPI_COMM_WORLD, &sends[i]));
  OK(MPI_Waitall(5, receives, statuses));
  OK(MPI_Waitall(5, sends, MPI_STATUSES_IGNORE));
  for (int i = 0; i < 5; i++) {
    CHECK_EQ(in[i], expected[i]);
    CHECK(status_is(&statuses[i], left, tags[expected[i]], MPI_INT, 1));
  }
  OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* A named receive posted before a wildcard keeps its message, whoever else is there to be taken. */
static void named_before_wildcard(void) {
  if (rank == 0) {
    int named = -1, *any = allocate(sizeof(int) * (size_t)ranks), seen = 0;
    MPI_Request* requests = allocate(sizeof(MPI_Request) * (size_t)(ranks + 1));
    MPI_Status* statuses = allocate(sizeof(MPI_Status) * (size_t)(ranks + 1));
    OK(MPI_Irecv(&named, 1, MPI_INT, ranks - 1, 7, MPI_COMM_WORLD, &requests[0]));
    for (int i = 0; i < ranks; i++)
      OK(MPI_Irecv(&any[i], 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &requests[i + 1]));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    int out[2] = {0, 1};
    OK(MPI_Send(&out[0], 1, MPI_INT, 0, 7, MPI_COMM_WORLD));
    if (ranks == 1) OK(MPI_Send(&out[1], 1, MPI_INT, 0, 7, MPI_COMM_WORLD));
    OK(MPI_Waitall(ranks + 1, requests, statuses));
    CHECK_EQ(named, 100 * (ranks - 1));
    CHECK(statuses[0].MPI_SOURCE == ranks - 1);
    for (int i = 0; i < ranks; i++) {
      int from = statuses[i + 1].MPI_SOURCE;
      CHECK_EQ(any[i], from * 100 + (from == ranks - 1));
      seen += 1 << from;
    }
    CHECK_EQ(seen, (1 << ranks) - 1);
    free(any);
    free(requests);
    free(statuses);
    return;
  }
  OK(MPI_Barrier(MPI_COMM_WORLD));
  int out[2] = {rank * 100, rank * 100 + 1};
  OK(MPI_Send(&out[0], 1, MPI_INT, 0, 7, MPI_COMM_WORLD));
  if (rank == ranks - 1) OK(MPI_Send(&out[1], 1, MPI_INT, 0, 7, MPI_COMM_WORLD));
}

/* Each source's messages come in order however the wildcard mixes the sources. */
static void anybody_in_order(void) {
  enum { messages = 500 };
  if (rank != 0) {
    for (int i = 0; i < messages; i++) OK(MPI_Send(&i, 1, MPI_INT, 0, i % 7, MPI_COMM_WORLD));
    return;
  }
  int* next = allocate(sizeof(int) * (size_t)ranks);
  for (int i = 0; i < messages * (ranks - 1); i++) {
    MPI_Status status;
    int value;
    OK(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
    CHECK_EQ(value, next[status.MPI_SOURCE]++);
    CHECK_EQ(status.MPI_TAG, value % 7);
  }
  free(next);
}

/* Tags and contexts keep messages apart, and the largest tag works. */
static void apart(void) {
  MPI_Comm other;
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &other));
  int *bound, flag, in[3], out[3] = {1, 2, 3};
  OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &flag));
  CHECK(flag && *bound >= 32767);
  MPI_Request requests[3];
  OK(MPI_Isend(&out[0], 1, MPI_INT, right, *bound, MPI_COMM_WORLD, &requests[0]));
  OK(MPI_Isend(&out[1], 1, MPI_INT, right, 0, MPI_COMM_WORLD, &requests[1]));
  OK(MPI_Isend(&out[2], 1, MPI_INT, right, 0, other, &requests[2]));
  OK(MPI_Recv(&in[2], 1, MPI_INT, left, 0, other, MPI_STATUS_IGNORE));
  OK(MPI_Recv(&in[1], 1, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  OK(MPI_Recv(&in[0], 1, MPI_INT, left, *bound, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  for (int i = 0; i < 3; i++) CHECK_EQ(in[i], i + 1);
  OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
  OK(MPI_Comm_free(&other));
}

/* What a communicator's handle named last is forgotten when it is freed, although the next one has the same
 * handle; and what was checked for one call is checked for the next. (Under MPICH the pending receive takes a
 * message of the next communicator.) */
static void communicators_come_and_go(void) {
  int in[2], out[2];
  MPI_Request pending, next;
  for (int round = 0; round < 5; round++) {
    MPI_Comm first, second;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &first));
    in[0] = in[1] = -1;
    out[0] = 2 * round;
    out[1] = 2 * round + 1;
    OK(MPI_Send(&out[0], 1, MPI_INT, right, 3, first));
    OK(MPI_Recv(&in[0], 1, MPI_INT, left, 3, first, MPI_STATUS_IGNORE));
    if (is_strict()) OK(MPI_Irecv(&in[0], 1, MPI_INT, left, 3, first, &pending));
    OK(MPI_Send(&out[0], 1, MPI_INT, right, 4, first));
    OK(MPI_Recv(&in[1], 1, MPI_INT, left, 4, first, MPI_STATUS_IGNORE));
    OK(MPI_Comm_free(&first));
    in[0] = -1;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &second));
    OK(MPI_Irecv(&in[1], 1, MPI_INT, left, 3, second, &next));
    OK(MPI_Send(&out[1], 1, MPI_INT, right, 3, second));
    OK(MPI_Wait(&next, MPI_STATUS_IGNORE));
    CHECK_EQ(in[0], -1);
    CHECK_EQ(in[1], 2 * round + 1);
    if (is_strict()) OK(MPI_Cancel(&pending));
    if (is_strict()) OK(MPI_Wait(&pending, MPI_STATUS_IGNORE));
    OK(MPI_Comm_free(&second));
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  OK(MPI_Send(&out[0], 1, MPI_INT, rank, 3, MPI_COMM_WORLD));
  CHECK(MPI_Send(&out[0], -1, MPI_INT, rank, 3, MPI_COMM_WORLD) != MPI_SUCCESS);
  CHECK(MPI_Send(&out[0], 1, MPI_INT, ranks, 3, MPI_COMM_WORLD) != MPI_SUCCESS);
  CHECK(MPI_Send(&out[0], 1, MPI_INT, rank, -1, MPI_COMM_WORLD) != MPI_SUCCESS);
  CHECK(MPI_Send(NULL, 1, MPI_INT, rank, 3, MPI_COMM_WORLD) != MPI_SUCCESS);
  CHECK(MPI_Irecv(&in[0], -1, MPI_INT, rank, 3, MPI_COMM_WORLD, &next) != MPI_SUCCESS);
  CHECK(MPI_Irecv(&in[0], 1, MPI_INT, ranks, 3, MPI_COMM_WORLD, &next) != MPI_SUCCESS);
  CHECK(MPI_Irecv(&in[0], 1, MPI_INT, rank, -7, MPI_COMM_WORLD, &next) != MPI_SUCCESS);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  OK(MPI_Irecv(&in[0], 2, MPI_INT, rank, 3, MPI_COMM_WORLD, &next));
  OK(MPI_Wait(&next, MPI_STATUS_IGNORE));
  CHECK_EQ(in[0], out[0]);
}

/* Many receives are posted before anything is sent: other tags between, other lengths, wildcards behind. */
static void runs(int words) {
  enum { many = 70, words_max = 3000 };
  static int in[many][words_max], out[many][words_max];
  MPI_Request requests[many];
  MPI_Status statuses[many];
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < many; i++) {
      int tag = i % 7 == 3 ? 1 : 0;
      for (int k = 0; k < words; k++) in[i][k] = -1, out[i][k] = round * 1000 + i;
      int source = round == 2 && i >= many / 2 ? MPI_ANY_SOURCE : left;
      if (round == 1 && i >= many / 2) tag = MPI_ANY_TAG;
      OK(MPI_Irecv(in[i], words, MPI_INT, source, tag, MPI_COMM_WORLD, &requests[i]));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < many; i++)
      OK(MPI_Send(out[i], i * (words / many), MPI_INT, right, i % 7 == 3 ? 1 : 0, MPI_COMM_WORLD));
    OK(MPI_Waitall(many, requests, statuses));
    int expected[many], taken[many] = {0};
    for (int message = 0; message < many; message++) {
      int i = 0;
      int any = round == 1 ? many / 2 : many;
      while (taken[i] || (i < any && (i % 7 == 3) != (message % 7 == 3))) i++;
      taken[i] = 1;
      expected[i] = message;
    }
    for (int i = 0; i < many; i++) {
      int count = -1;
      OK(MPI_Get_count(&statuses[i], MPI_INT, &count));
      int message = expected[i];
      CHECK_EQ(count, message * (words / many));
      CHECK(status_is(&statuses[i], left, message % 7 == 3 ? 1 : 0, MPI_INT, count));
      for (int k = 0; k < words; k++) CHECK_EQ(in[i][k], k < count ? round * 1000 + message : -1);
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
  }
}

/* Who waits for many may leave the first ones to gather, but not for long: no other comes before it is taken.
 */
static void one_after_the_other(int size) {
  enum { many = 8, size_max = 9000 };
  static char in[many][size_max], out[size_max];
  MPI_Request requests[many];
  for (int round = 0; round < 20; round++) {
    if (rank % 2 == 1) {
      for (int i = 0; i < many; i++) {
        in[i][size - 1] = -1;
        OK(MPI_Irecv(in[i], size, MPI_CHAR, rank - 1, 6, MPI_COMM_WORLD, &requests[i]));
      }
      OK(MPI_Waitall(many, requests, MPI_STATUSES_IGNORE));
      for (int i = 0; i < many; i++) CHECK_EQ(in[i][size - 1], i);
    } else if (rank + 1 < ranks) {
      for (int i = 0; i < many; i++) {
        out[size - 1] = (char)i;
        OK(MPI_Ssend(out, size, MPI_CHAR, rank + 1, 6, MPI_COMM_WORLD));
      }
    }
  }
  OK(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char** argv) {
  begin("p2p_matching", &argc, &argv);
  right = (rank + 1) % ranks;
  left = (rank + ranks - 1) % ranks;
  non_overtaking(0);
  non_overtaking(1000);
  non_overtaking(40000);
  wildcards_and_names(0);
  wildcards_and_names(1);
  named_before_wildcard();
  OK(MPI_Barrier(MPI_COMM_WORLD));
  anybody_in_order();
  OK(MPI_Barrier(MPI_COMM_WORLD));
  apart();
  communicators_come_and_go();
  runs(300);
  runs(3000);
  one_after_the_other(100);
  one_after_the_other(4096);
  one_after_the_other(9000);
  return finish();
}
