/* Point-to-point in all modes: blocking, nonblocking, persistent; MPI 3.4 and 3.9. */
#include "check.h"

static const int sizes[] = {0, 1, 7, 100, 1000, 5000, 16384, 20000, 70000, 300000, 1500000};
enum { size_count = sizeof sizes / sizeof sizes[0], largest = 1500000 };

typedef int (*Send)(const void*, int, MPI_Datatype, int, int, MPI_Comm);
typedef int (*Isend)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

static int *out, *in;
static int right, left;

/* Round the ring: even ranks send first; alone, to itself with a posted receive. */
static void ring_blocking(Send send, int count, int tag) {
  MPI_Status status;
  MPI_Request request;
  fill(out, count, (uint32_t)rank, (uint32_t)tag);
  memset(in, 0xff, sizeof(int) * (size_t)(count + 1));
  OK(MPI_Irecv(in, count, MPI_INT, left, tag, MPI_COMM_WORLD, &request));
  OK(send(out, count, MPI_INT, right, tag, MPI_COMM_WORLD));
  OK(MPI_Wait(&request, &status));
  CHECK(request == MPI_REQUEST_NULL);
  CHECK(status_is(&status, left, tag, MPI_INT, count));
  CHECK(filled(in, count, (uint32_t)left, (uint32_t)tag));
  CHECK_EQ(in[count], -1);
}

static void ring_nonblocking(Isend isend, int count, int tag) {
  MPI_Status statuses[2];
  MPI_Request requests[2];
  fill(out, count, (uint32_t)rank, (uint32_t)tag);
  memset(in, 0xff, sizeof(int) * (size_t)(count + 1));
  OK(MPI_Irecv(in, count + 1, MPI_INT, left, tag, MPI_COMM_WORLD, &requests[0]));
  OK(isend(out, count, MPI_INT, right, tag, MPI_COMM_WORLD, &requests[1]));
  OK(MPI_Waitall(2, requests, statuses));
  CHECK(status_is(&statuses[0], left, tag, MPI_INT, count));
  CHECK(filled(in, count, (uint32_t)left, (uint32_t)tag));
  CHECK_EQ(in[count], -1);
}

/* Rsend needs a posted receive: the barrier says that it is. */
static int ready_isend(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                       MPI_Request* request) {
  MPI_Barrier(comm);
  return MPI_Irsend(buffer, count, type, to, tag, comm, request);
}
static int ready_send(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  MPI_Barrier(comm);
  return MPI_Rsend(buffer, count, type, to, tag, comm);
}

static void all_modes(void) {
  int room = largest * (int)sizeof(int) + 4 * MPI_BSEND_OVERHEAD, detached_size;
  void *memory = allocate((size_t)room), *detached;
  OK(MPI_Buffer_attach(memory, room));
  for (int i = 0; i < size_count; i++) {
    ring_blocking(MPI_Send, sizes[i], 10 + i);
    ring_blocking(MPI_Ssend, sizes[i], 30 + i);
    ring_blocking(MPI_Bsend, sizes[i], 50 + i);
    ring_blocking(ready_send, sizes[i], 70 + i);
    ring_nonblocking(MPI_Isend, sizes[i], 90 + i);
    ring_nonblocking(MPI_Issend, sizes[i], 110 + i);
    ring_nonblocking(MPI_Ibsend, sizes[i], 130 + i);
    ring_nonblocking(ready_isend, sizes[i], 150 + i);
  }
  OK(MPI_Buffer_detach(&detached, &detached_size));
  CHECK(detached == memory);
  CHECK_EQ(detached_size, room);
  free(memory);
}

/* A buffered send completes with no receive in sight, and detaching waits until it is delivered. */
static void buffered_is_local(void) {
  int values[100], room;
  void* memory;
  OK(MPI_Pack_size(100, MPI_INT, MPI_COMM_WORLD, &room));
  room = 4 * (room + MPI_BSEND_OVERHEAD);
  memory = allocate((size_t)room);
  OK(MPI_Buffer_attach(memory, room));
  for (int i = 0; i < 4; i++) {
    fill(values, 100, (uint32_t)rank, (uint32_t)i);
    OK(MPI_Bsend(values, 100, MPI_INT, right, i, MPI_COMM_WORLD));
    memset(values, 0, sizeof values);
  }
  for (int i = 3; i >= 0; i--) {
    OK(MPI_Recv(values, 100, MPI_INT, left, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(filled(values, 100, (uint32_t)left, (uint32_t)i));
  }
  OK(MPI_Buffer_detach(&memory, &room));
  free(memory);
}

/* A synchronous send is not complete before its receive is posted. */
static void synchronous_waits(void) {
  if (ranks < 2 || rank > 1) return;
  int value = 42, flag = 0;
  MPI_Request request;
  if (rank == 0) {
    OK(MPI_Issend(&value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &request));
    for (int i = 0; i < 1000; i++) {
      OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
      CHECK(!flag);
    }
    OK(MPI_Send(&value, 0, MPI_INT, 1, 6, MPI_COMM_WORLD));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  } else {
    OK(MPI_Recv(NULL, 0, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    value = 0;
    OK(MPI_Recv(&value, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_EQ(value, 42);
  }
}

static void persistent(int count) {
  MPI_Request requests[5];
  MPI_Status statuses[5];
  int* all_in = allocate(sizeof(int) * (size_t)(4 * count + 1));
  int room = count * (int)sizeof(int) + 4 * MPI_BSEND_OVERHEAD;
  void* memory = allocate((size_t)room);
  OK(MPI_Buffer_attach(memory, room));
  OK(MPI_Send_init(out, count, MPI_INT, right, 1, MPI_COMM_WORLD, &requests[0]));
  OK(MPI_Ssend_init(out, count, MPI_INT, right, 2, MPI_COMM_WORLD, &requests[1]));
  OK(MPI_Bsend_init(out, count, MPI_INT, right, 3, MPI_COMM_WORLD, &requests[2]));
  OK(MPI_Recv_init(in, count, MPI_INT, left, 1, MPI_COMM_WORLD, &requests[3]));
  OK(MPI_Recv_init(all_in, count, MPI_INT, left, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[4]));
  for (int round = 0; round < 5; round++) {
    MPI_Request extra[1];
    fill(out, count, (uint32_t)rank, (uint32_t)round);
    OK(MPI_Startall(4, requests));
    OK(MPI_Wait(&requests[3], &statuses[3]));
    CHECK(status_is(&statuses[3], left, 1, MPI_INT, count));
    CHECK(filled(in, count, (uint32_t)left, (uint32_t)round));
    OK(MPI_Irecv(all_in + count, count, MPI_INT, left, 3, MPI_COMM_WORLD, extra));
    OK(MPI_Start(&requests[4]));
    OK(MPI_Waitall(5, requests, statuses));
    CHECK(status_is(&statuses[4], left, 2, MPI_INT, count));
    CHECK(status_is_empty(&statuses[3]));
    CHECK(filled(all_in, count, (uint32_t)left, (uint32_t)round));
    OK(MPI_Wait(extra, MPI_STATUS_IGNORE));
    CHECK(filled(all_in + count, count, (uint32_t)left, (uint32_t)round));
    for (int i = 0; i < 5; i++) CHECK(requests[i] != MPI_REQUEST_NULL);
    OK(MPI_Barrier(MPI_COMM_WORLD));
  }
  for (int i = 0; i < 5; i++) {
    OK(MPI_Request_free(&requests[i]));
    CHECK(requests[i] == MPI_REQUEST_NULL);
  }
  OK(MPI_Buffer_detach(&memory, &room));
  free(memory);
  free(all_in);
}

static void persistent_ready(void) {
  MPI_Request send, receive;
  OK(MPI_Rsend_init(out, 10, MPI_INT, right, 4, MPI_COMM_WORLD, &send));
  OK(MPI_Recv_init(in, 10, MPI_INT, left, 4, MPI_COMM_WORLD, &receive));
  for (int round = 0; round < 3; round++) {
    fill(out, 10, (uint32_t)rank, (uint32_t)round);
    OK(MPI_Start(&receive));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Start(&send));
    OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    CHECK(filled(in, 10, (uint32_t)left, (uint32_t)round));
  }
  OK(MPI_Request_free(&send));
  OK(MPI_Request_free(&receive));
}

static void sendrecv(void) {
  for (int i = 0; i < size_count; i++) {
    MPI_Status status;
    fill(out, sizes[i], (uint32_t)rank, 7);
    OK(MPI_Sendrecv(out, sizes[i], MPI_INT, right, i, in, largest, MPI_INT, left, i, MPI_COMM_WORLD,
                    &status));
    CHECK(status_is(&status, left, i, MPI_INT, sizes[i]));
    CHECK(filled(in, sizes[i], (uint32_t)left, 7));
    fill(in, sizes[i], (uint32_t)rank, 8);
    OK(MPI_Sendrecv_replace(in, sizes[i], MPI_INT, right, i, left, i, MPI_COMM_WORLD, &status));
    CHECK(status_is(&status, left, i, MPI_INT, sizes[i]));
    CHECK(filled(in, sizes[i], (uint32_t)left, 8));
  }
}

static void null_process(void) {
  MPI_Status status;
  MPI_Request requests[2];
  int value = 3, flag = 0;
  OK(MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
  OK(MPI_Ssend(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
  OK(MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status));
  CHECK(status_is(&status, MPI_PROC_NULL, MPI_ANY_TAG, MPI_INT, 0));
  CHECK_EQ(value, 3);
  OK(MPI_Irecv(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[0]));
  OK(MPI_Isend(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[1]));
  OK(MPI_Wait(&requests[0], &status));
  CHECK(!is_strict() || status_is(&status, MPI_PROC_NULL, MPI_ANY_TAG, MPI_INT, 0));
  OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
  OK(MPI_Probe(MPI_PROC_NULL, 4, MPI_COMM_WORLD, &status));
  CHECK(status_is(&status, MPI_PROC_NULL, MPI_ANY_TAG, MPI_INT, 0));
  OK(MPI_Iprobe(MPI_PROC_NULL, 4, MPI_COMM_WORLD, &flag, &status));
  CHECK(flag);
  OK(MPI_Sendrecv(&value, 1, MPI_INT, MPI_PROC_NULL, 0, &value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD,
                  &status));
  CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
  OK(MPI_Recv_init(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[0]));
  OK(MPI_Start(&requests[0]));
  OK(MPI_Wait(&requests[0], &status));
  CHECK(!is_strict() || status_is(&status, MPI_PROC_NULL, MPI_ANY_TAG, MPI_INT, 0));
  OK(MPI_Request_free(&requests[0]));
}

/* A message longer than its buffer is an error of the receive and leaves what lies behind the buffer alone.
 */
static void truncation(int count) {
  MPI_Comm comm;
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)); /* MPICH calls this one for Waitall */
  MPI_Request request;
  MPI_Status status;
  int class;
  fill(out, count, 1, 2);
  memset(in, 0xff, sizeof(int) * (size_t)count);
  OK(MPI_Isend(out, count, MPI_INT, right, 0, comm, &request));
  int code = MPI_Recv(in, count / 2, MPI_INT, left, 0, comm, &status);
  CHECK(code != MPI_SUCCESS);
  OK(MPI_Error_class(code, &class));
  CHECK_EQ(class, MPI_ERR_TRUNCATE);
  for (int i = count / 2; i < count; i++) CHECK_EQ(in[i], -1);
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  MPI_Request both[2];
  MPI_Status statuses[2];
  OK(MPI_Irecv(in, count / 2, MPI_INT, left, 1, comm, &both[0]));
  OK(MPI_Isend(out, count, MPI_INT, right, 1, comm, &both[1]));
  code = MPI_Waitall(2, both, statuses);
  OK(MPI_Error_class(code, &class));
  CHECK_EQ(class, MPI_ERR_IN_STATUS);
  OK(MPI_Error_class(statuses[0].MPI_ERROR, &class));
  CHECK_EQ(class, MPI_ERR_TRUNCATE);
  CHECK(statuses[1].MPI_ERROR == MPI_SUCCESS || statuses[1].MPI_ERROR == MPI_ERR_PENDING);
  if (both[1] != MPI_REQUEST_NULL) OK(MPI_Wait(&both[1], MPI_STATUS_IGNORE));
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
  OK(MPI_Comm_free(&comm));
}

/* A message that ends within an element of a datatype with gaps was sent with other datatypes. */
static void split_element(void) {
  MPI_Comm comm;
  MPI_Datatype every_other;
  MPI_Request request;
  MPI_Status status;
  int class, count;
  char bytes[11] = {0};
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
  OK(MPI_Type_vector(4, 1, 2, MPI_INT, &every_other));
  OK(MPI_Type_commit(&every_other));
  OK(MPI_Isend(bytes, 3, MPI_BYTE, right, 0, comm, &request));
  OK(MPI_Error_class(MPI_Recv(in, 1, every_other, left, 0, comm, &status), &class));
  CHECK_EQ(class, MPI_ERR_TYPE);
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  OK(MPI_Isend(bytes, 11, MPI_BYTE, right, 1, comm, &request));
  MPI_Request receive;
  OK(MPI_Irecv(in, 1, every_other, left, 1, comm, &receive));
  OK(MPI_Error_class(MPI_Wait(&receive, MPI_STATUS_IGNORE), &class));
  CHECK_EQ(class, MPI_ERR_TYPE);
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  /* A part of the datatype that ends with an element is right. */
  OK(MPI_Isend(out, 3, MPI_INT, right, 2, comm, &request));
  OK(MPI_Recv(in, 1, every_other, left, 2, comm, &status));
  OK(MPI_Get_elements(&status, every_other, &count));
  CHECK_EQ(count, 3);
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  OK(MPI_Type_free(&every_other));
  OK(MPI_Comm_free(&comm));
}

static void to_self(void) {
  for (int i = 0; i < size_count; i++) {
    MPI_Request requests[2];
    MPI_Status status;
    fill(out, sizes[i], 5, (uint32_t)rank);
    OK(MPI_Isend(out, sizes[i], MPI_INT, 0, 2, MPI_COMM_SELF, &requests[0]));
    OK(MPI_Recv(in, sizes[i], MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &status));
    CHECK(status_is(&status, 0, 2, MPI_INT, sizes[i]));
    CHECK(filled(in, sizes[i], 5, (uint32_t)rank));
    OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    OK(MPI_Sendrecv(out, sizes[i], MPI_INT, rank, 3, in, sizes[i], MPI_INT, rank, 3, MPI_COMM_WORLD,
                    &status));
    CHECK(status_is(&status, rank, 3, MPI_INT, sizes[i]));
    OK(MPI_Irecv(in, sizes[i], MPI_INT, rank, 3, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Ssend(out, sizes[i], MPI_INT, rank, 3, MPI_COMM_WORLD));
    OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    CHECK(filled(in, sizes[i], 5, (uint32_t)rank));
  }
}

int main(int argc, char** argv) {
  begin("p2p_modes", &argc, &argv);
  right = (rank + 1) % ranks;
  left = (rank + ranks - 1) % ranks;
  out = allocate(sizeof(int) * (largest + 1));
  in = allocate(sizeof(int) * (largest + 1));
  all_modes();
  buffered_is_local();
  synchronous_waits();
  persistent(10);
  persistent(40000);
  persistent_ready();
  sendrecv();
  null_process();
  truncation(10);
  truncation(1000);
  truncation(500000);
  to_self();
  split_element();
  free(out);
  free(in);
  return finish();
}
