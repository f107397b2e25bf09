/* Messages to a blocking receive that is waiting for them or about to, in turns with all that keeps it from
 * taking the next one that comes; MPI 3.2, 3.5, 3.10. */
#include "check.h"

enum { size_max = 100000, turns = 300 };

static int partner;
static char *in, *out;

static void expect_message(const MPI_Status* status, int source, int tag, int size, uint32_t what) {
  CHECK(status_is(status, source, tag, MPI_BYTE, size));
  for (int i = 0; i < size; i += size / 7 + 1)
    CHECK_EQ(in[i], (char)pattern(what, (uint32_t)size, (uint32_t)i));
  if (size > 0) CHECK_EQ(in[size - 1], (char)pattern(what, (uint32_t)size, (uint32_t)size - 1));
}

static void fill_message(int size, uint32_t what) {
  for (int i = 0; i < size; i += size / 7 + 1) out[i] = (char)pattern(what, (uint32_t)size, (uint32_t)i);
  if (size > 0) out[size - 1] = (char)pattern(what, (uint32_t)size, (uint32_t)size - 1);
}

static void send(int size, int tag, uint32_t what) {
  fill_message(size, what);
  OK(MPI_Send(out, size, MPI_BYTE, partner, tag, MPI_COMM_WORLD));
}

static void receive(int room, int source, int tag, int size, int tag_sent, uint32_t what) {
  MPI_Status status;
  OK(MPI_Recv(in, room, MPI_BYTE, source, tag, MPI_COMM_WORLD, &status));
  expect_message(&status, partner, tag_sent, size, what);
}

/* There and back, of every kind of length, to a name or not. */
static void there_and_back(void) {
  static const int sizes[] = {0, 1, 47, 48, 49, 64, 65, 1000, 2048, 2049, 5000, 65535, 65536, size_max};
  for (int k = 0; k < (int)(sizeof sizes / sizeof *sizes); k++)
    for (int turn = 0; turn < turns; turn++) {
      const int source = turn % 3 ? partner : MPI_ANY_SOURCE, tag = turn % 5 ? turn : MPI_ANY_TAG;
      const int room = turn % 2 ? sizes[k] : size_max;
      if (rank < partner) send(sizes[k], turn, (uint32_t)turn);
      receive(room, source, tag, sizes[k], turn, (uint32_t)turn);
      if (rank > partner) send(sizes[k], turn, (uint32_t)turn);
    }
}

/* The next message is not the one that is received: it has another tag or communicator, or an earlier receive
 * takes it. */
static void not_the_next(void) {
  MPI_Comm other;
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &other));
  for (int turn = 0; turn < turns; turn++) {
    MPI_Request early;
    MPI_Status status;
    int value = -1, posted = -1;
    if (rank < partner) {
      send(8, 1, 1);
      send(8, 2, 2);
      OK(MPI_Send(&turn, 1, MPI_INT, partner, 2, other));
      send(9, 2, 3);
    } else {
      receive(8, partner, 2, 8, 2, 2);
      receive(9, MPI_ANY_SOURCE, 2, 9, 2, 3);
      OK(MPI_Recv(&value, 1, MPI_INT, partner, MPI_ANY_TAG, other, &status));
      CHECK_EQ(value, turn);
      receive(8, partner, MPI_ANY_TAG, 8, 1, 1);
    }
    /* Receives that were posted before come first; one with another tag does not. */
    const int tag = turn % 2 ? 3 : MPI_ANY_TAG, source = turn % 4 < 2 ? partner : MPI_ANY_SOURCE;
    OK(MPI_Irecv(&posted, 1, MPI_INT, source, tag, other, &early));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    int first = 10 * turn, second = first + 1;
    OK(MPI_Send(&first, 1, MPI_INT, partner, 3, other));
    OK(MPI_Send(&second, 1, MPI_INT, partner, 4, other));
    OK(MPI_Recv(&value, 1, MPI_INT, partner, 4, other, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&early, &status));
    CHECK_EQ(posted, first);
    CHECK_EQ(value, second);
    CHECK(status_is(&status, partner, 3, MPI_INT, 1));
  }
  OK(MPI_Comm_free(&other));
}

/* A message that is too long, then one that is not: an error, and nothing else is lost. */
static void too_long(void) {
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  static const int sizes[] = {8, 48, 49, 3000, size_max};
  for (int k = 0; k < 5; k++)
    for (int turn = 0; turn < 20; turn++) {
      if (rank > partner) send(sizes[k], 1, 1);
      if (rank > partner) send(4, 1, 2);
      if (rank < partner) {
        memset(in, 77, (size_t)sizes[k]);
        const int code = MPI_Recv(in, sizes[k] - 1, MPI_BYTE, partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        int class;
        OK(MPI_Error_class(code, &class));
        CHECK_EQ(class, MPI_ERR_TRUNCATE);
        CHECK_EQ(in[sizes[k] - 1], 77);
        receive(4, partner, 1, 4, 1, 2);
      }
    }
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

/* Synchronous, buffered and nonblocking sends to one who receives blockingly, and the other way round. */
static void all_ways(void) {
  for (int turn = 0; turn < turns; turn++) {
    const int size = turn % 7 * 100;
    MPI_Request request;
    if (rank < partner) {
      fill_message(size, 5);
      if (turn % 3 == 0) OK(MPI_Ssend(out, size, MPI_BYTE, partner, 0, MPI_COMM_WORLD));
      if (turn % 3 == 1) OK(MPI_Isend(out, size, MPI_BYTE, partner, 0, MPI_COMM_WORLD, &request));
      if (turn % 3 == 2) OK(MPI_Send(out, size, MPI_BYTE, partner, 0, MPI_COMM_WORLD));
      receive(size, partner, 0, size, 0, 6);
      if (turn % 3 == 1) OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else if (turn % 2) {
      receive(size, partner, 0, size, 0, 5);
      send(size, 0, 6);
    } else {
      MPI_Status status;
      OK(MPI_Irecv(in, size, MPI_BYTE, partner, 0, MPI_COMM_WORLD, &request));
      OK(MPI_Wait(&request, &status));
      expect_message(&status, partner, 0, size, 5);
      send(size, 0, 6);
    }
  }
}

/* Both at once, also with oneself and with nobody. */
static void exchanges(void) {
  static const int sizes[] = {0, 8, 48, 200, 2048, 2049, 20000, size_max};
  MPI_Status status;
  for (int k = 0; k < 8; k++)
    for (int turn = 0; turn < turns / 3; turn++) {
      fill_message(sizes[k], 7);
      OK(MPI_Sendrecv(out, sizes[k], MPI_BYTE, partner, 9, in, size_max, MPI_BYTE,
                      turn % 2 ? partner : MPI_ANY_SOURCE, turn % 3 ? 9 : MPI_ANY_TAG, MPI_COMM_WORLD,
                      &status));
      expect_message(&status, partner, 9, sizes[k], 7);
      OK(MPI_Sendrecv(out, sizes[k], MPI_BYTE, rank, 9, in, size_max, MPI_BYTE, rank, 9, MPI_COMM_WORLD,
                      &status));
      expect_message(&status, rank, 9, sizes[k], 7);
    }
  OK(MPI_Sendrecv(out, 8, MPI_BYTE, MPI_PROC_NULL, 1, in, 8, MPI_BYTE, MPI_PROC_NULL, 1, MPI_COMM_WORLD,
                  &status));
  CHECK_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
}

/* Who has much to do with one rank serves the others too. */
static void third_parties(void) {
  int value = 0;
  if (rank == 0) {
    for (int turn = 0; turn < 20 * turns; turn++) {
      OK(MPI_Send(&turn, 1, MPI_INT, 1, 0, MPI_COMM_WORLD));
      OK(MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      CHECK_EQ(value, turn);
    }
    for (int other = 2; other < ranks; other++)
      for (int i = 0; i < turns; i++) {
        OK(MPI_Recv(in, 4000, MPI_BYTE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_EQ(in[0], (char)i);
      }
  } else if (rank == 1) {
    for (int turn = 0; turn < 20 * turns; turn++) {
      OK(MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      OK(MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD));
    }
  } else {
    for (int i = 0; i < turns; i++) {
      out[0] = (char)i;
      OK(MPI_Send(out, 4000, MPI_BYTE, 0, 1, MPI_COMM_WORLD));
    }
  }
}

int main(int argc, char** argv) {
  begin("p2p_brief", &argc, &argv);
  in = allocate(size_max + 1);
  out = allocate(size_max + 1);
  partner = rank ^ 1;
  if (partner < ranks) {
    there_and_back();
    all_ways();
    exchanges();
    too_long();
  }
  OK(MPI_Barrier(MPI_COMM_WORLD));
  if (ranks == 2) not_the_next();
  if (ranks > 1) third_parties();
  free(in);
  free(out);
  return finish();
}
