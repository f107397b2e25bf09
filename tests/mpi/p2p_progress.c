/* What must not deadlock: everybody sends first at eager sizes, a large Isend before a small message that the
 * receiver wants first, many requests at once, senders that are far ahead, what comes beside that. */
#include "check.h"

static int right, left;

static void everybody_sends_first(int count) {
  if (ranks == 1) return; /* a send to oneself before the receive is the one case that may wait */
  int* out = allocate(sizeof(int) * (size_t)count);
  int* in = allocate(sizeof(int) * (size_t)count);
  for (int round = 0; round < 20; round++) {
    fill(out, count, (uint32_t)rank, (uint32_t)round);
    OK(MPI_Send(out, count, MPI_INT, right, round, MPI_COMM_WORLD));
    OK(MPI_Recv(in, count, MPI_INT, left, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(filled(in, count, (uint32_t)left, (uint32_t)round));
  }
  free(out);
  free(in);
}

static void large_before_small(void) {
  enum { large = 2000000 };
  int *out = allocate(sizeof(int) * large), *in = allocate(sizeof(int) * large), small = rank, got = -1;
  MPI_Request request;
  fill(out, large, (uint32_t)rank, 1);
  OK(MPI_Isend(out, large, MPI_INT, right, 1, MPI_COMM_WORLD, &request));
  MPI_Request second;
  OK(MPI_Isend(&small, 1, MPI_INT, right, 2, MPI_COMM_WORLD, &second));
  OK(MPI_Recv(&got, 1, MPI_INT, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK_EQ(got, left);
  OK(MPI_Wait(&second, MPI_STATUS_IGNORE));
  OK(MPI_Recv(in, large, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK(filled(in, large, (uint32_t)left, 1));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  free(out);
  free(in);
}

static void many_outstanding(int count) {
  enum { requests_each = 1000 };
  MPI_Request* requests = allocate(sizeof(MPI_Request) * 2 * requests_each);
  int* out = allocate(sizeof(int) * requests_each * (size_t)count);
  int* in = allocate(sizeof(int) * requests_each * (size_t)count);
  fill(out, requests_each * count, (uint32_t)rank, 3);
  for (int i = 0; i < requests_each; i++)
    OK(MPI_Isend(out + i * count, count, MPI_INT, right, i, MPI_COMM_WORLD, &requests[i]));
  for (int i = requests_each - 1; i >= 0; i--)
    OK(MPI_Irecv(in + i * count, count, MPI_INT, left, i, MPI_COMM_WORLD, &requests[requests_each + i]));
  OK(MPI_Waitall(2 * requests_each, requests, MPI_STATUSES_IGNORE));
  CHECK(filled(in, requests_each * count, (uint32_t)left, 3));
  free(out);
  free(in);
  free(requests);
}

/* Rank 0 pours far more into rank 1 than any buffer holds before rank 1 looks. */
static void far_ahead(void) {
  enum { messages = 20000 };
  if (ranks < 2 || rank > 1) return;
  if (rank == 0) {
    for (int i = 0; i < messages; i++) OK(MPI_Send(&i, 1, MPI_INT, 1, i % 2, MPI_COMM_WORLD));
    return;
  }
  for (int parity = 1; parity >= 0; parity--)
    for (int i = parity, value; i < messages; i += 2) {
      OK(MPI_Recv(&value, 1, MPI_INT, 0, parity, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      CHECK_EQ(value, i);
    }
}

/* Rank 0 takes small messages from rank 1, which wait for it, until a large one with gaps, in pieces, has
 * come beside them. */
static void large_beside_small(int source) {
  enum { blocks = 200000, small_max = 50000000 };
  if (ranks < 2 || rank > 1) return;
  int* data = allocate(sizeof(int) * 2 * blocks);
  memset(data, 0, sizeof(int) * 2 * blocks);
  MPI_Datatype gapped;
  MPI_Request large;
  OK(MPI_Type_vector(blocks, 1, 2, MPI_INT, &gapped));
  OK(MPI_Type_commit(&gapped));
  if (rank == 0) {
    OK(MPI_Irecv(data, 1, gapped, 1, 1, MPI_COMM_WORLD, &large));
    for (int is_last = 0; !is_last;)
      OK(MPI_Recv(&is_last, 1, MPI_INT, source, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&large, MPI_STATUS_IGNORE));
    for (int i = 0; i < blocks; i++) CHECK(data[2 * i] == i && data[2 * i + 1] == 0);
  } else {
    for (int i = 0; i < blocks; i++) data[2 * i] = i;
    OK(MPI_Isend(data, 1, gapped, 0, 1, MPI_COMM_WORLD, &large));
    for (int is_sent = 0, sent = 0; !is_sent; sent++) {
      CHECK(sent < small_max);
      OK(MPI_Test(&large, &is_sent, MPI_STATUS_IGNORE));
      OK(MPI_Send(&is_sent, 1, MPI_INT, 0, 77, MPI_COMM_WORLD));
    }
  }
  OK(MPI_Type_free(&gapped));
  free(data);
}

/* Everybody to everybody, all started before any is completed, sizes on both sides of the eager limit. */
static void storm(void) {
  static const int sizes[] = {0, 1, 100, 4000, 20000, 100000};
  enum { kinds = 6 };
  int total = ranks * kinds;
  MPI_Request* requests = allocate(sizeof(MPI_Request) * 2 * (size_t)total);
  int** buffers = allocate(sizeof(int*) * 2 * (size_t)total);
  for (int i = 0; i < total; i++) {
    int peer = i / kinds, count = sizes[i % kinds];
    buffers[i] = allocate(sizeof(int) * (size_t)count);
    buffers[total + i] = allocate(sizeof(int) * (size_t)count);
    fill(buffers[i], count, (uint32_t)rank, (uint32_t)peer);
    OK(MPI_Isend(buffers[i], count, MPI_INT, peer, i % kinds, MPI_COMM_WORLD, &requests[i]));
  }
  for (int i = total - 1; i >= 0; i--)
    OK(MPI_Irecv(buffers[total + i], sizes[i % kinds], MPI_INT, i / kinds, i % kinds, MPI_COMM_WORLD,
                 &requests[total + i]));
  OK(MPI_Waitall(2 * total, requests, MPI_STATUSES_IGNORE));
  for (int i = 0; i < total; i++) {
    CHECK(filled(buffers[total + i], sizes[i % kinds], (uint32_t)(i / kinds), (uint32_t)rank));
    free(buffers[i]);
    free(buffers[total + i]);
  }
  free(buffers);
  free(requests);
}

int main(int argc, char** argv) {
  begin("p2p_progress", &argc, &argv);
  right = (rank + 1) % ranks;
  left = (rank + ranks - 1) % ranks;
  everybody_sends_first(1);
  everybody_sends_first(256);
  everybody_sends_first(1000);
  large_before_small();
  many_outstanding(1);
  many_outstanding(300);
  far_ahead();
  large_beside_small(1);
  large_beside_small(MPI_ANY_SOURCE);
  storm();
  return finish();
}
