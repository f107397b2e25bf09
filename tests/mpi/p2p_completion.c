/* The Wait and Test family, Request_free, Request_get_status, Cancel; MPI 3.7 and 3.8. */
#include "check.h"

enum { many = 16 };
static int right, left;

static void null_requests(void) {
  MPI_Request none[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status status, statuses[3];
  int flag = 0, index = 0, count = 0, indices[3];
  OK(MPI_Wait(&none[0], &status));
  CHECK(status_is_empty(&status));
  OK(MPI_Test(&none[0], &flag, &status));
  CHECK(flag && status_is_empty(&status));
  OK(MPI_Waitall(3, none, statuses));
  CHECK(status_is_empty(&statuses[2]));
  OK(MPI_Testall(3, none, &flag, statuses));
  CHECK(flag);
  OK(MPI_Waitany(3, none, &index, &status));
  CHECK_EQ(index, MPI_UNDEFINED);
  CHECK(status_is_empty(&status));
  OK(MPI_Testany(3, none, &index, &flag, &status));
  CHECK(flag);
  CHECK_EQ(index, MPI_UNDEFINED);
  OK(MPI_Waitsome(3, none, &count, indices, statuses));
  CHECK_EQ(count, MPI_UNDEFINED);
  OK(MPI_Testsome(3, none, &count, indices, statuses));
  CHECK_EQ(count, MPI_UNDEFINED);
  OK(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE));
  OK(MPI_Waitany(0, NULL, &index, &status));
  CHECK_EQ(index, MPI_UNDEFINED);
  OK(MPI_Testall(0, NULL, &flag, MPI_STATUSES_IGNORE));
  CHECK(flag);
}

static void inactive_requests(void) {
  MPI_Request request[2];
  MPI_Status status;
  int value, flag = 0, index, count, indices[2];
  OK(MPI_Recv_init(&value, 1, MPI_INT, left, 0, MPI_COMM_WORLD, &request[0]));
  OK(MPI_Send_init(&value, 1, MPI_INT, right, 0, MPI_COMM_WORLD, &request[1]));
  OK(MPI_Wait(&request[0], &status));
  CHECK(status_is_empty(&status));
  OK(MPI_Test(&request[0], &flag, &status));
  CHECK(flag);
  OK(MPI_Waitany(2, request, &index, &status));
  CHECK_EQ(index, MPI_UNDEFINED);
  OK(MPI_Testsome(2, request, &count, indices, MPI_STATUSES_IGNORE));
  CHECK_EQ(count, MPI_UNDEFINED);
  OK(MPI_Waitall(2, request, MPI_STATUSES_IGNORE));
  CHECK(request[0] != MPI_REQUEST_NULL);
  OK(MPI_Request_free(&request[0]));
  OK(MPI_Request_free(&request[1]));
}

static MPI_Request receives[many], sends[many];
static int values[many], got[many];

static void post_all(int base) {
  for (int i = 0; i < many; i++)
    OK(MPI_Irecv(&got[i], 1, MPI_INT, left, base + i, MPI_COMM_WORLD, &receives[i]));
  for (int i = many - 1; i >= 0; i--) {
    values[i] = rank * 1000 + i;
    OK(MPI_Isend(&values[i], 1, MPI_INT, right, base + i, MPI_COMM_WORLD, &sends[i]));
  }
}

static void check_one(int index, const MPI_Status* status, int base) {
  CHECK(index >= 0 && index < many);
  CHECK(status_is(status, left, base + index, MPI_INT, 1));
  CHECK_EQ(got[index], left * 1000 + index);
  CHECK(receives[index] == MPI_REQUEST_NULL);
}

static void family(void) {
  MPI_Status status, statuses[many];
  int flag, index, count, indices[many], left_over;

  post_all(0);
  for (int i = 0; i < many; i++) {
    OK(MPI_Waitany(many, receives, &index, &status));
    check_one(index, &status, 0);
  }
  OK(MPI_Waitany(many, receives, &index, &status));
  CHECK_EQ(index, MPI_UNDEFINED);
  OK(MPI_Waitall(many, sends, MPI_STATUSES_IGNORE));

  post_all(100);
  for (left_over = many; left_over > 0; left_over -= count) {
    OK(MPI_Waitsome(many, receives, &count, indices, statuses));
    CHECK(count >= 1 && count <= left_over);
    for (int i = 0; i < count; i++) check_one(indices[i], &statuses[i], 100);
  }
  OK(MPI_Waitall(many, sends, statuses));

  post_all(200);
  for (left_over = many; left_over > 0;) {
    OK(MPI_Testany(many, receives, &index, &flag, &status));
    if (!flag) continue;
    check_one(index, &status, 200);
    left_over--;
  }
  OK(MPI_Waitall(many, sends, statuses));

  post_all(300);
  for (left_over = many; left_over > 0; left_over -= count) {
    OK(MPI_Testsome(many, receives, &count, indices, statuses));
    CHECK(count >= 0 && count <= left_over);
    for (int i = 0; i < count; i++) check_one(indices[i], &statuses[i], 300);
  }
  OK(MPI_Waitall(many, sends, statuses));

  post_all(400);
  for (flag = 0; !flag;) OK(MPI_Testall(many, receives, &flag, statuses));
  for (int i = 0; i < many; i++) check_one(i, &statuses[i], 400);
  for (flag = 0; !flag;) OK(MPI_Testall(many, sends, &flag, MPI_STATUSES_IGNORE));

  post_all(500);
  for (int i = 0; i < many; i++) {
    for (flag = 0; !flag;) OK(MPI_Test(&receives[i], &flag, &status));
    check_one(i, &status, 500);
  }
  OK(MPI_Waitall(many, sends, MPI_STATUSES_IGNORE));

  post_all(600);
  OK(MPI_Waitall(many, receives, MPI_STATUSES_IGNORE));
  OK(MPI_Waitall(many, sends, MPI_STATUSES_IGNORE));
}

/* Testall says false as long as one is missing, and then completes none. */
static void testall_is_all_or_nothing(void) {
  MPI_Request requests[2];
  MPI_Request send;
  int flag, one = 1, a = 0, b = 0;
  OK(MPI_Irecv(&a, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &requests[0]));
  OK(MPI_Irecv(&b, 1, MPI_INT, rank, 2, MPI_COMM_WORLD, &requests[1]));
  OK(MPI_Send(&one, 1, MPI_INT, rank, 1, MPI_COMM_WORLD));
  for (int i = 0; i < 50; i++) {
    OK(MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE));
    CHECK(!flag);
    CHECK(requests[0] != MPI_REQUEST_NULL && requests[1] != MPI_REQUEST_NULL);
  }
  OK(MPI_Isend(&one, 1, MPI_INT, rank, 2, MPI_COMM_WORLD, &send));
  for (flag = 0; !flag;) OK(MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE));
  CHECK(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
  CHECK(a == 1 && b == 1);
  OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
}

static void get_status(void) {
  MPI_Request request;
  MPI_Status status;
  int flag, value = 0, one = 77;
  OK(MPI_Irecv(&value, 1, MPI_INT, rank, 8, MPI_COMM_WORLD, &request));
  OK(MPI_Request_get_status(request, &flag, &status));
  CHECK(!flag);
  OK(MPI_Send(&one, 1, MPI_INT, rank, 8, MPI_COMM_WORLD));
  for (flag = 0; !flag;) OK(MPI_Request_get_status(request, &flag, &status));
  CHECK(status_is(&status, rank, 8, MPI_INT, 1));
  CHECK(request != MPI_REQUEST_NULL);
  OK(MPI_Wait(&request, &status));
  CHECK(status_is(&status, rank, 8, MPI_INT, 1));
  CHECK_EQ(value, 77);
  OK(MPI_Request_get_status(MPI_REQUEST_NULL, &flag, &status));
  CHECK(flag);
}

static void request_free(void) {
  MPI_Request request;
  int* out = allocate(sizeof(int) * 100000);
  int* in = allocate(sizeof(int) * 100000);
  fill(out, 100000, (uint32_t)rank, 4);
  OK(MPI_Isend(out, 100000, MPI_INT, right, 4, MPI_COMM_WORLD, &request));
  OK(MPI_Request_free(&request));
  CHECK(request == MPI_REQUEST_NULL);
  OK(MPI_Recv(in, 100000, MPI_INT, left, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK(filled(in, 100000, (uint32_t)left, 4));
  OK(MPI_Barrier(MPI_COMM_WORLD));
  free(in);
  free(out);
}

/* A receive that nothing matches can be cancelled, and then takes nothing. */
static void cancel(void) {
  MPI_Request request;
  MPI_Status status;
  int value = 5, flag = 0;
  OK(MPI_Irecv(&value, 1, MPI_INT, left, 900, MPI_COMM_WORLD, &request));
  OK(MPI_Cancel(&request));
  OK(MPI_Wait(&request, &status));
  OK(MPI_Test_cancelled(&status, &flag));
  CHECK(flag);
  OK(MPI_Barrier(MPI_COMM_WORLD));
  int out = 6;
  OK(MPI_Sendrecv(&out, 1, MPI_INT, right, 900, &value, 1, MPI_INT, left, 900, MPI_COMM_WORLD, &status));
  OK(MPI_Test_cancelled(&status, &flag));
  CHECK(!flag);
  CHECK_EQ(value, 6);
  OK(MPI_Irecv(&value, 1, MPI_INT, rank, 901, MPI_COMM_WORLD, &request));
  OK(MPI_Send(&out, 1, MPI_INT, rank, 901, MPI_COMM_WORLD));
  for (int done = 0; !done;) OK(MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE));
  OK(MPI_Cancel(&request));
  OK(MPI_Wait(&request, &status));
  OK(MPI_Test_cancelled(&status, &flag));
  CHECK(!flag);
}

/* Requests of all kinds in one Waitall, in this and in the reverse order; once with a receive in their midst
 * whose message is too long. */
static void waitall_of_all_kinds(int reversed, int too_long) {
  enum { kinds = 8 };
  int out[kinds], in[kinds], sent = 17, flag = 0;
  MPI_Request requests[kinds];
  MPI_Status statuses[kinds];
  int place[kinds];
  for (int i = 0; i < kinds; i++) place[i] = reversed ? kinds - 1 - i : i;
  for (int i = 0; i < kinds; i++) in[i] = -1, out[i] = 100 + i, statuses[i].MPI_ERROR = 4711;
  OK(MPI_Irecv(&in[0], 1, MPI_INT, left, 10, MPI_COMM_WORLD, &requests[place[0]]));
  OK(MPI_Isend(&out[0], 1, MPI_INT, right, 10, MPI_COMM_WORLD, &requests[place[1]]));
  requests[place[2]] = MPI_REQUEST_NULL;
  OK(MPI_Recv_init(&in[3], 1, MPI_INT, left, 13, MPI_COMM_WORLD, &requests[place[3]]));
  OK(MPI_Start(&requests[place[3]]));
  OK(MPI_Irecv(&in[4], 1, MPI_INT, MPI_ANY_SOURCE, 14, MPI_COMM_WORLD, &requests[place[4]]));
  OK(MPI_Irecv(&in[5], too_long ? 0 : 1, MPI_INT, left, 15, MPI_COMM_WORLD, &requests[place[5]]));
  OK(MPI_Issend(&sent, 1, MPI_INT, rank, 16, MPI_COMM_WORLD, &requests[place[6]]));
  OK(MPI_Irecv(&in[7], 1, MPI_INT, rank, 16, MPI_COMM_WORLD, &requests[place[7]]));
  MPI_Request persistent = requests[place[3]];
  for (int i = 3; i < 6; i++) OK(MPI_Send(&out[i], 1, MPI_INT, right, 10 + i, MPI_COMM_WORLD));
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int code = MPI_Waitall(kinds, requests, statuses);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  int class = MPI_SUCCESS;
  OK(MPI_Error_class(code, &class));
  CHECK_EQ(class, too_long ? MPI_ERR_IN_STATUS : MPI_SUCCESS);
  for (int i = 0; i < kinds; i++) {
    const MPI_Status* status = &statuses[place[i]];
    if (i != 3) CHECK(requests[place[i]] == MPI_REQUEST_NULL);
    if (too_long && i == 5) {
      OK(MPI_Error_class(status->MPI_ERROR, &class));
      CHECK_EQ(class, MPI_ERR_TRUNCATE);
      continue;
    }
    if (is_strict()) CHECK_EQ(status->MPI_ERROR, too_long ? MPI_SUCCESS : 4711);
    if (i == 2) CHECK(status_is_empty(status));
    if (i == 0 || i == 3 || i == 4 || i == 5) {
      CHECK_EQ(in[i], 100 + i);
      CHECK(status_is(status, left, 10 + i, MPI_INT, 1));
    }
    OK(MPI_Test_cancelled(status, &flag));
    CHECK(!flag);
  }
  CHECK(status_is(&statuses[place[7]], rank, 16, MPI_INT, 1));
  CHECK_EQ(in[7], 17);
  CHECK(requests[place[3]] == persistent);
  OK(MPI_Request_free(&persistent));
  OK(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char** argv) {
  begin("p2p_completion", &argc, &argv);
  right = (rank + 1) % ranks;
  left = (rank + ranks - 1) % ranks;
  null_requests();
  inactive_requests();
  family();
  testall_is_all_or_nothing();
  get_status();
  request_free();
  cancel();
  for (int way = 0; way < (is_strict() ? 4 : 2); way++) waitall_of_all_kinds(way % 2, way / 2);
  return finish();
}
