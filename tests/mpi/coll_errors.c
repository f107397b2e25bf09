/* Collectives that are called wrongly: buffers that overlap (MPI 5.2), and counts that do not fit each other,
 * after which the communicator is as good as before where nobody has been left waiting. */
#include "check.h"

static MPI_Comm comm;

static int class_of(int code) {
  int class = -1;
  OK(MPI_Error_class(code, &class));
  return class;
}

#define REFUSED(call) CHECK_EQ(class_of(call), MPI_ERR_BUFFER)

/* What one process gives and takes lies in one place: refused before anything is sent. */
static void overlaps(void) {
  int *data = allocate(sizeof(int) * 2 * (size_t)ranks), *counts = allocate(sizeof(int) * (size_t)ranks);
  int *places = allocate(sizeof(int) * (size_t)ranks), *bytes = allocate(sizeof(int) * (size_t)ranks);
  MPI_Datatype* types = allocate(sizeof(MPI_Datatype) * (size_t)ranks);
  MPI_Request request;
  for (int r = 0; r < ranks; r++) {
    counts[r] = 2;
    places[r] = 2 * r;
    bytes[r] = 8 * r;
    types[r] = MPI_INT;
  }
  int* own = data + 2 * rank;
  if (rank == ranks - 1) {
    REFUSED(MPI_Gather(own, 2, MPI_INT, data, 2, MPI_INT, rank, comm));
    REFUSED(MPI_Gatherv(own, 2, MPI_INT, data, counts, places, MPI_INT, rank, comm));
    REFUSED(MPI_Scatter(data, 2, MPI_INT, own, 2, MPI_INT, rank, comm));
    REFUSED(MPI_Scatterv(data, counts, places, MPI_INT, own, 2, MPI_INT, rank, comm));
    REFUSED(MPI_Reduce(data, data, 2, MPI_INT, MPI_SUM, rank, comm));
    REFUSED(MPI_Igatherv(own, 2, MPI_INT, data, counts, places, MPI_INT, rank, comm, &request));
  }
  REFUSED(MPI_Allgather(own, 2, MPI_INT, data, 2, MPI_INT, comm));
  REFUSED(MPI_Allgatherv(own, 2, MPI_INT, data, counts, places, MPI_INT, comm));
  REFUSED(MPI_Alltoall(data, 2, MPI_INT, data, 2, MPI_INT, comm));
  REFUSED(MPI_Alltoallv(data, counts, places, MPI_INT, data, counts, places, MPI_INT, comm));
  REFUSED(MPI_Alltoallw(data, counts, bytes, types, data, counts, bytes, types, comm));
  REFUSED(MPI_Ialltoallv(data, counts, places, MPI_INT, data, counts, places, MPI_INT, comm, &request));
  REFUSED(MPI_Allreduce(data, data, 2, MPI_INT, MPI_SUM, comm));
  REFUSED(MPI_Reduce_scatter(data, data, counts, MPI_INT, MPI_SUM, comm));
  REFUSED(MPI_Scan(data, data, 2, MPI_INT, MPI_SUM, comm));
  REFUSED(MPI_Exscan(data, data, 2, MPI_INT, MPI_SUM, comm));
  free(data), free(counts), free(places), free(bytes), free(types);
}

/* Different parts of one buffer are right: two halves, and what two datatypes pick. */
static void one_buffer(void) {
  int *data = allocate(sizeof(int) * 2 * (size_t)ranks), *counts = allocate(sizeof(int) * (size_t)ranks);
  int *low = allocate(sizeof(int) * (size_t)ranks), *high = allocate(sizeof(int) * (size_t)ranks);
  for (int r = 0; r < ranks; r++) {
    data[r] = 100 * rank + r;
    counts[r] = 1;
    low[r] = r;
    high[r] = ranks + r;
  }
  OK(MPI_Alltoallv(data, counts, low, MPI_INT, data, counts, high, MPI_INT, comm));
  for (int r = 0; r < ranks; r++) CHECK_EQ(data[ranks + r], 100 * r + rank);

  int one = 1, first = 0, second = 1;
  MPI_Datatype even, odd, *evens = allocate(sizeof(even) * (size_t)ranks),
                          *odds = allocate(sizeof(odd) * (size_t)ranks);
  OK(MPI_Type_indexed(1, &one, &first, MPI_INT, &even));
  OK(MPI_Type_indexed(1, &one, &second, MPI_INT, &odd));
  OK(MPI_Type_commit(&even));
  OK(MPI_Type_commit(&odd));
  for (int r = 0; r < ranks; r++) {
    data[2 * r] = 100 * rank + r;
    data[2 * r + 1] = -1;
    low[r] = 8 * r;
    evens[r] = even;
    odds[r] = odd;
  }
  OK(MPI_Alltoallw(data, counts, low, evens, data, counts, low, odds, comm));
  for (int r = 0; r < ranks; r++) {
    CHECK_EQ(data[2 * r], 100 * rank + r);
    CHECK_EQ(data[2 * r + 1], 100 * r + rank);
  }
  OK(MPI_Type_free(&even));
  OK(MPI_Type_free(&odd));
  free(data), free(counts), free(low), free(high), free(evens), free(odds);
}

/* The communicator does what it did before. */
static void still_good(int value) {
  int sum = 0, seen = rank == ranks - 1 ? value : -1;
  OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
  CHECK_EQ(sum, ranks * (ranks - 1) / 2);
  OK(MPI_Bcast(&seen, 1, MPI_INT, ranks - 1, comm));
  CHECK_EQ(seen, value);
}

/* The root gives `given` numbers, the others expect `expected`. */
static void broadcasts(int given, int expected) {
  int* data = allocate(sizeof(int) * 50000);
  MPI_Request requests[2];
  int code = MPI_Bcast(data, rank == 0 ? given : expected, MPI_INT, 0, comm);
  CHECK_EQ(code == MPI_SUCCESS, rank == 0);
  still_good(given);
  /* Of two that are on their way the second one suffers nothing. */
  int behind = rank == 0 ? expected : -1;
  OK(MPI_Ibcast(data, rank == 0 ? given : expected, MPI_INT, 0, comm, &requests[0]));
  OK(MPI_Ibcast(&behind, 1, MPI_INT, 0, comm, &requests[1]));
  OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
  CHECK_EQ(behind, expected);
  code = MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  CHECK_EQ(code == MPI_SUCCESS, rank == 0);
  still_good(expected);
  free(data);
}

/* One process has another count than the others. */
static void other_movements(void) {
  int *given = allocate(sizeof(int) * 3 * (size_t)ranks), *taken = allocate(sizeof(int) * 3 * (size_t)ranks);
  const int odd = rank == ranks - 1 ? 3 : 2;
  int code = MPI_Gather(given, odd, MPI_INT, taken, 2, MPI_INT, 0, comm);
  CHECK_EQ(code == MPI_SUCCESS, rank != 0);
  still_good(1);
  code = MPI_Scatter(given, 2, MPI_INT, taken, odd, MPI_INT, 0, comm);
  CHECK_EQ(code == MPI_SUCCESS, odd == 2);
  still_good(2);
  CHECK(MPI_Allgather(given, odd, MPI_INT, taken, odd, MPI_INT, comm) != MPI_SUCCESS);
  still_good(3);
  CHECK(MPI_Alltoall(given, odd, MPI_INT, taken, odd, MPI_INT, comm) != MPI_SUCCESS);
  still_good(4);
  CHECK(MPI_Allreduce(given, taken, odd, MPI_INT, MPI_SUM, comm) != MPI_SUCCESS);
  still_good(5);
  code = MPI_Reduce(given, taken, odd, MPI_INT, MPI_SUM, 0, comm);
  CHECK_EQ(code == MPI_SUCCESS, rank != 0);
  still_good(6);
  free(given), free(taken);
}

int main(int argc, char** argv) {
  begin("coll_errors", &argc, &argv);
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
  overlaps();
  one_buffer();
  if (ranks > 1 && is_strict()) {
    broadcasts(1, 10);
    broadcasts(10, 1);
    broadcasts(100, 10);
    broadcasts(100, 400);
    broadcasts(2000, 400);
    broadcasts(50000, 49999);
    other_movements();
  }
  OK(MPI_Comm_free(&comm));
  return finish();
}
