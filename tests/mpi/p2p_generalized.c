/* Requests that are neither one send nor one receive: generalized ones (MPI 3.1, 12.2), and MPI_Isendrecv
 * (MPI 4.0, 3.10). */
#include "check.h"

struct Operation {
  int queried, freed, cancelled, was_complete, value;
};

static int query(void* extra, MPI_Status* status) {
  struct Operation* self = extra;
  self->queried++;
  status->MPI_SOURCE = 3;
  status->MPI_TAG = self->value;
  OK(MPI_Status_set_elements(status, MPI_INT, 5));
  OK(MPI_Status_set_cancelled(status, self->cancelled));
  return MPI_SUCCESS;
}
static int release(void* extra) {
  ((struct Operation*)extra)->freed++;
  return MPI_SUCCESS;
}
static int cancel(void* extra, int complete) {
  struct Operation* self = extra;
  self->cancelled = !complete;
  self->was_complete = complete;
  return MPI_SUCCESS;
}

static MPI_Request begin_operation(struct Operation* operation, int value) {
  MPI_Request request;
  memset(operation, 0, sizeof *operation);
  operation->value = value;
  OK(MPI_Grequest_start(query, release, cancel, operation, &request));
  CHECK(request != MPI_REQUEST_NULL);
  return request;
}

static void completion(void) {
  struct Operation operation;
  MPI_Request request = begin_operation(&operation, 17), copy;
  MPI_Status status;
  int flag = -1;
  OK(MPI_Test(&request, &flag, &status));
  CHECK(!flag && operation.queried == 0);
  OK(MPI_Request_get_status(request, &flag, &status));
  CHECK(!flag);
  OK(MPI_Grequest_complete(request));
  OK(MPI_Request_get_status(request, &flag, &status));
  CHECK(flag && status_is(&status, 3, 17, MPI_INT, 5) && operation.freed == 0);
  OK(MPI_Wait(&request, &status));
  CHECK(status_is(&status, 3, 17, MPI_INT, 5));
  CHECK(request == MPI_REQUEST_NULL && operation.freed == 1 && operation.queried == 2);

  request = copy = begin_operation(&operation, 1);
  OK(MPI_Request_free(&request));
  CHECK(operation.freed == 0 && request == MPI_REQUEST_NULL);
  OK(MPI_Grequest_complete(copy));
  CHECK_EQ(operation.freed, 1);
  CHECK_EQ(operation.queried, 0);

  request = begin_operation(&operation, 1);
  OK(MPI_Grequest_complete(request));
  OK(MPI_Request_free(&request));
  CHECK_EQ(operation.freed, 1);
}

static void cancellation(void) {
  struct Operation operation;
  MPI_Status status;
  int flag = 0;
  MPI_Request request = begin_operation(&operation, 2);
  OK(MPI_Cancel(&request));
  CHECK(operation.cancelled && !operation.was_complete);
  OK(MPI_Grequest_complete(request));
  OK(MPI_Wait(&request, &status));
  OK(MPI_Test_cancelled(&status, &flag));
  CHECK(flag);
}

static void several(void) {
  enum { COUNT = 4 };
  struct Operation operations[COUNT];
  MPI_Request requests[COUNT + 1];
  MPI_Status statuses[COUNT + 1], status;
  int index = -1, count = 0, indices[COUNT + 1], flag = 0, token = rank, got = -1;
  for (int i = 0; i < COUNT; i++) requests[i] = begin_operation(&operations[i], i);
  OK(MPI_Irecv(&got, 1, MPI_INT, rank, 8, MPI_COMM_WORLD, &requests[COUNT]));
  OK(MPI_Testany(COUNT, requests, &index, &flag, &status));
  CHECK(!flag);
  OK(MPI_Grequest_complete(requests[2]));
  OK(MPI_Waitany(COUNT, requests, &index, &status));
  CHECK_EQ(index, 2);
  CHECK_EQ(status.MPI_TAG, 2);
  OK(MPI_Grequest_complete(requests[0]));
  OK(MPI_Grequest_complete(requests[3]));
  OK(MPI_Testsome(COUNT, requests, &count, indices, statuses));
  CHECK_EQ(count, 2);
  CHECK_EQ(statuses[0].MPI_TAG + statuses[1].MPI_TAG, 3);
  OK(MPI_Grequest_complete(requests[1]));
  OK(MPI_Send(&token, 1, MPI_INT, rank, 8, MPI_COMM_WORLD));
  OK(MPI_Waitall(COUNT + 1, requests, statuses));
  CHECK(statuses[1].MPI_TAG == 1 && status_is(&statuses[COUNT], rank, 8, MPI_INT, 1) && got == rank);
  for (int i = 0; i < COUNT; i++) CHECK(operations[i].freed == 1 && operations[i].queried == 1);
}

static void exchange(void) {
  int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
  for (int count = 1; count <= 100000; count *= 10) {
    int *in = allocate(sizeof(int) * (size_t)count), *out = allocate(sizeof(int) * (size_t)count);
    MPI_Request request;
    MPI_Status status;
    fill(out, count, rank, count);
    OK(MPI_Isendrecv(out, count, MPI_INT, right, 5, in, count, MPI_INT, left, 5, MPI_COMM_WORLD, &request));
    OK(MPI_Wait(&request, &status));
    CHECK(status_is(&status, left, 5, MPI_INT, count) && filled(in, count, left, count));
    OK(MPI_Isendrecv_replace(out, count, MPI_INT, right, 6, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &request));
    OK(MPI_Wait(&request, &status));
    CHECK(status_is(&status, left, 6, MPI_INT, count) && filled(out, count, left, count));
    free(in);
    free(out);
  }
  int token = rank, none = -1;
  MPI_Request request;
  MPI_Status status;
  OK(MPI_Isendrecv(&token, 1, MPI_INT, MPI_PROC_NULL, 0, &none, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD,
                   &request));
  OK(MPI_Wait(&request, &status));
  CHECK(status.MPI_SOURCE == MPI_PROC_NULL && none == -1);
}

static void errors(void) {
  int values[2] = {1, 2}, one = 0;
  MPI_Request request;
  MPI_Status status;
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  OK(MPI_Isendrecv(values, 2, MPI_INT, 0, 1, &one, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request));
  int class, code = MPI_Wait(&request, &status);
  OK(MPI_Error_class(code, &class));
  CHECK_EQ(class, MPI_ERR_TRUNCATE);
  CHECK(MPI_Isendrecv(values, 2, MPI_INT, 7, 1, &one, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request) !=
        MPI_SUCCESS);
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  OK(MPI_Irecv(&one, 1, MPI_INT, rank, 9, MPI_COMM_WORLD, &request));
  if (is_strict()) CHECK(MPI_Grequest_complete(request) != MPI_SUCCESS);
  OK(MPI_Cancel(&request));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

int main(int argc, char** argv) {
  begin("p2p_generalized", &argc, &argv);
  completion();
  cancellation();
  several();
  exchange();
  errors();
  return finish();
}
