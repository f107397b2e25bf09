/* All collectives nonblocking and persistent, several at a time, in place and with types and operations that
 * are freed after the call; MPI 5.12, MPI 4.0 6.13. */
#include "check.h"

enum { count = 37, large = 50000 };

static void add_matrices(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)type;
  /* Affine maps x -> a x + b in whole numbers, which do not commute. */
  unsigned *left = in, *right = inout;
  for (int i = 0; i < *length; i++) {
    unsigned a = left[2 * i] * right[2 * i], b = left[2 * i] * right[2 * i + 1] + left[2 * i + 1];
    right[2 * i] = a;
    right[2 * i + 1] = b;
  }
}

/* One of each at once, completed in the other order. */
static void all_at_once(int round) {
  MPI_Request requests[17];
  int n = 0, root = round % ranks;
  int *one = allocate(sizeof(int) * count), *sums = allocate(sizeof(int) * count),
      *maxima = allocate(sizeof(int) * count);
  int *gathered = allocate(sizeof(int) * (size_t)ranks), *scattered = allocate(sizeof(int) * (size_t)ranks),
      part = -1;
  int *every = allocate(sizeof(int) * (size_t)ranks), *every_v = allocate(sizeof(int) * (size_t)ranks);
  int *out = allocate(sizeof(int) * (size_t)ranks), *in = allocate(sizeof(int) * (size_t)ranks);
  int *in_v = allocate(sizeof(int) * (size_t)ranks), *in_w = allocate(sizeof(int) * (size_t)ranks);
  int *ones = allocate(sizeof(int) * (size_t)ranks), *places = allocate(sizeof(int) * (size_t)ranks);
  int* bytes = allocate(sizeof(int) * (size_t)ranks);
  MPI_Datatype* types = allocate(sizeof(MPI_Datatype) * (size_t)ranks);
  int mine = 7 * rank + round, scanned = 0, before = -1, dealt = 0, dealt_block = 0, part_v = -1;
  int* gathered_v = allocate(sizeof(int) * (size_t)ranks);
  for (int i = 0; i < count; i++) one[i] = rank * i + round;
  for (int r = 0; r < ranks; r++) {
    scattered[r] = 3 * r + round;
    out[r] = 100 * rank + r + round;
    ones[r] = 1;
    places[r] = ranks - 1 - r;
    bytes[r] = 4 * places[r];
    types[r] = MPI_INT;
  }
  int* data = allocate(sizeof(int) * large);
  if (rank == root) fill(data, large, (uint32_t)round, 1);
  OK(MPI_Ibarrier(MPI_COMM_WORLD, &requests[n++]));
  OK(MPI_Ibcast(data, large, MPI_INT, root, MPI_COMM_WORLD, &requests[n++]));
  OK(MPI_Igather(&mine, 1, MPI_INT, gathered, 1, MPI_INT, root, MPI_COMM_WORLD, &requests[n++]));
  OK(MPI_Igatherv(&mine, 1, MPI_INT, gathered_v, ones, places, MPI_INT, root, MPI_COMM_WORLD,
                  &requests[n++]));
  OK(MPI_Iscatter(scattered, 1, MPI_INT, &part, 1, MPI_INT, root, MPI_COMM_WORLD, &requests[n++]));
  OK(MPI_Iscatterv(scattered, ones, places, MPI_INT, &part_v, 1, MPI_INT, root, MPI_COMM_WORLD,
                   &requests[n++]));
  OK(MPI_Iallgather(&mine, 1, MPI_INT, every, 1, MPI_INT, MPI_COMM_WORLD, &requests[n++]));
  OK(MPI_Iallgatherv(&mine, 1, MPI_INT, every_v, ones, places, MPI_INT, MPI_COMM_WORLD, &requests[n++]));
  OK(MPI_Ialltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD, &requests[n++]));
  OK(MPI_Ialltoallv(out, ones, places, MPI_INT, in_v, ones, places, MPI_INT, MPI_COMM_WORLD, &requests[n++]));
  OK(MPI_Ialltoallw(out, ones, bytes, types, in_w, ones, bytes, types, MPI_COMM_WORLD, &requests[n++]));
  OK(MPI_Ireduce(one, sums, count, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD, &requests[n++]));
  OK(MPI_Iallreduce(one, maxima, count, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &requests[n++]));
  OK(MPI_Ireduce_scatter(out, &dealt, ones, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[n++]));
  OK(MPI_Ireduce_scatter_block(out, &dealt_block, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[n++]));
  OK(MPI_Iscan(&mine, &scanned, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[n++]));
  OK(MPI_Iexscan(&mine, &before, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[n++]));
  CHECK_EQ(n, 17);
  if (round % 3 == 0) {
    OK(MPI_Waitall(n, requests, MPI_STATUSES_IGNORE));
  } else if (round % 3 == 1) {
    for (int i = n - 1; i >= 0; i--)
      for (int flag = 0; !flag;) OK(MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE));
  } else {
    for (int i = 0, index; i < n; i++) OK(MPI_Waitany(n, requests, &index, MPI_STATUS_IGNORE));
  }
  CHECK(filled(data, large, (uint32_t)round, 1));
  int total = 0;
  for (int r = 0; r < ranks; r++) {
    total += 7 * r + round;
    if (rank == root) CHECK_EQ(gathered[r], 7 * r + round);
    if (rank == root) CHECK_EQ(gathered_v[ranks - 1 - r], 7 * r + round);
    CHECK_EQ(every[r], 7 * r + round);
    CHECK_EQ(every_v[ranks - 1 - r], 7 * r + round);
    CHECK_EQ(in[r], 100 * r + rank + round);
    CHECK_EQ(in_v[ranks - 1 - r], 100 * r + (ranks - 1 - rank) + round);
    CHECK_EQ(in_w[ranks - 1 - r], 100 * r + (ranks - 1 - rank) + round);
    if (r == rank) CHECK_EQ(scanned, total);
    if (r + 1 == rank) CHECK_EQ(before, total);
  }
  CHECK_EQ(part, 3 * rank + round);
  CHECK_EQ(part_v, 3 * (ranks - 1 - rank) + round);
  for (int i = 0; i < count; i++) {
    if (rank == root) CHECK_EQ(sums[i], i * ranks * (ranks - 1) / 2 + ranks * round);
    CHECK_EQ(maxima[i], (ranks - 1) * i + round);
  }
  CHECK_EQ(dealt, 100 * ranks * (ranks - 1) / 2 + ranks * (rank + round));
  CHECK_EQ(dealt_block, dealt);
  int* all[] = {one, sums, maxima, gathered, scattered, every, every_v, out,
                in,  in_v, in_w,   ones,     places,    bytes, data,    gathered_v};
  for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) free(all[i]);
  free(types);
}

/* The program's own type and operation are freed while the reduction is in progress. */
static void freed_meanwhile(void) {
  unsigned map[2] = {2 * (unsigned)rank + 3, (unsigned)rank + 1}, result[2], expected[2] = {1, 0};
  MPI_Datatype pair;
  MPI_Op compose;
  MPI_Request requests[2];
  OK(MPI_Type_contiguous(2, MPI_UNSIGNED, &pair));
  OK(MPI_Type_commit(&pair));
  OK(MPI_Op_create(add_matrices, 0, &compose));
  OK(MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]));
  OK(MPI_Iallreduce(map, result, 1, pair, compose, MPI_COMM_WORLD, &requests[1]));
  OK(MPI_Op_free(&compose));
  OK(MPI_Type_free(&pair));
  OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  for (unsigned r = 0; r < (unsigned)ranks; r++) {
    unsigned a = 2 * r + 3, b = r + 1;
    expected[1] = expected[0] * b + expected[1];
    expected[0] *= a;
  }
  CHECK_EQ(result[0], expected[0]);
  CHECK_EQ(result[1], expected[1]);
}

static void in_place(void) {
  int *values = allocate(sizeof(int) * (size_t)ranks), sum = rank + 1;
  MPI_Request requests[3];
  int* exchanged = allocate(sizeof(int) * (size_t)ranks);
  for (int r = 0; r < ranks; r++) exchanged[r] = 50 * rank + r;
  values[rank] = 2 * rank;
  OK(MPI_Iallgather(MPI_IN_PLACE, 0, MPI_INT, values, 1, MPI_INT, MPI_COMM_WORLD, &requests[0]));
  OK(MPI_Iallreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[1]));
  OK(MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_INT, exchanged, 1, MPI_INT, MPI_COMM_WORLD, &requests[2]));
  OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
  for (int r = 0; r < ranks; r++) CHECK_EQ(values[r], 2 * r);
  for (int r = 0; r < ranks; r++) CHECK_EQ(exchanged[r], 50 * r + rank);
  CHECK_EQ(sum, ranks * (ranks + 1) / 2);
  free(values);
  free(exchanged);
}

/* A blocking one between: those before it are over then. Another communicator's go on by themselves. */
static void mixed_with_blocking(void) {
  MPI_Comm other;
  MPI_Request requests[3];
  int sum = 0, product = 1, first = rank == 0 ? 99 : -1, mine = rank + 1;
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &other));
  OK(MPI_Ibcast(&first, 1, MPI_INT, 0, MPI_COMM_WORLD, &requests[0]));
  OK(MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, other, &requests[1]));
  OK(MPI_Allreduce(&mine, &product, 1, MPI_INT, MPI_PROD, MPI_COMM_WORLD));
  OK(MPI_Ibarrier(other, &requests[2]));
  OK(MPI_Comm_free(&other));
  OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
  int factorial = 1;
  for (int r = 1; r <= ranks; r++) factorial *= r;
  CHECK_EQ(first, 99);
  CHECK_EQ(sum, ranks * (ranks + 1) / 2);
  CHECK_EQ(product, factorial);
}

static void persistent(void) {
  MPI_Request requests[4];
  int data = -1, mine = 0, sum = 0;
  int *given = allocate(sizeof(int) * (size_t)ranks), *taken = allocate(sizeof(int) * (size_t)ranks);
  OK(MPI_Bcast_init(&data, 1, MPI_INT, ranks - 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]));
  OK(MPI_Allreduce_init(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]));
  OK(MPI_Alltoall_init(given, 1, MPI_INT, taken, 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[2]));
  OK(MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[3]));
  for (int round = 0; round < 5; round++) {
    if (rank == ranks - 1) data = 10 + round;
    mine = rank * round;
    for (int r = 0; r < ranks; r++) given[r] = 10 * rank + r + round;
    if (round % 2)
      OK(MPI_Startall(4, requests));
    else
      for (int i = 0; i < 4; i++) OK(MPI_Start(&requests[i]));
    OK(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
    CHECK_EQ(data, 10 + round);
    CHECK_EQ(sum, round * ranks * (ranks - 1) / 2);
    for (int r = 0; r < ranks; r++) CHECK_EQ(taken[r], 10 * r + rank + round);
  }
  for (int i = 0; i < 4; i++) OK(MPI_Request_free(&requests[i]));
  free(given);
  free(taken);
}

/* More persistent ones than there is room for at a time, made and freed in turn, on several communicators. */
static void persistent_in_turn(void) {
  /* Where ranks are more than cores, only as many as show that all fits together. */
  const int rounds = ranks <= 2 ? 4500 : 200;
  MPI_Comm comm = MPI_COMM_NULL;
  for (int i = 0; i < rounds; i++) {
    MPI_Request requests[4];
    int values[4], sums[4];
    if (i % 30 == 0) OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    for (int k = 0; k < 4; k++)
      OK(MPI_Allreduce_init(&values[k], &sums[k], 1, MPI_INT, MPI_SUM, k % 2 ? comm : MPI_COMM_WORLD,
                            MPI_INFO_NULL, &requests[k]));
    for (int k = 0; k < 4; k++) values[k] = i + k;
    /* Not all are started, and they are freed in different orders. */
    for (int k = 0; k < 3; k++) OK(MPI_Start(&requests[(k + rank) % 3]));
    OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
    for (int k = 0; k < 3; k++) CHECK_EQ(sums[k], (i + k) * ranks);
    for (int k = 0; k < 4; k++) OK(MPI_Request_free(&requests[(k + rank) % 4]));
    if (i % 30 == 29) OK(MPI_Comm_free(&comm));
  }
  if (comm != MPI_COMM_NULL) OK(MPI_Comm_free(&comm));
}

/* Duplicates of communicators that overlap, begun in different orders. */
static void duplicates(void) {
  MPI_Comm low = MPI_COMM_NULL, high = MPI_COMM_NULL, copies[3];
  MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  int sums[3] = {0, 0, 0}, one = 1, sizes[3] = {0, 0, 0};
  OK(MPI_Comm_split(MPI_COMM_WORLD, rank == ranks - 1 && ranks > 1 ? MPI_UNDEFINED : 0, 0, &low));
  OK(MPI_Comm_split(MPI_COMM_WORLD, rank == 0 && ranks > 1 ? MPI_UNDEFINED : 0, 0, &high));
  for (int turn = 0; turn < 2; turn++) {
    int which = (turn + rank) % 2;
    MPI_Comm parent = which ? high : low;
    if (parent == MPI_COMM_NULL) continue;
    OK(MPI_Comm_size(parent, &sizes[which]));
    OK(MPI_Comm_idup(parent, &copies[which], &requests[which]));
  }
  OK(MPI_Comm_idup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &copies[2], &requests[2]));
  sizes[2] = ranks;
  OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
  for (int i = 0; i < 3; i++)
    if (sizes[i]) OK(MPI_Iallreduce(&one, &sums[i], 1, MPI_INT, MPI_SUM, copies[i], &requests[i]));
  OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
  for (int i = 0; i < 3; i++) {
    CHECK_EQ(sums[i], sizes[i]);
    if (!sizes[i]) continue;
    int size, next, sent = 100 * i + rank, received = -1, own;
    OK(MPI_Comm_size(copies[i], &size));
    OK(MPI_Comm_rank(copies[i], &own));
    next = (own + 1) % size;
    OK(MPI_Sendrecv(&sent, 1, MPI_INT, next, 0, &received, 1, MPI_INT, (own + size - 1) % size, 0, copies[i],
                    MPI_STATUS_IGNORE));
    CHECK_EQ(received / 100, i);
    OK(MPI_Comm_free(&copies[i]));
  }
  if (low != MPI_COMM_NULL) OK(MPI_Comm_free(&low));
  if (high != MPI_COMM_NULL) OK(MPI_Comm_free(&high));
}

int main(int argc, char** argv) {
  begin("coll_later", &argc, &argv);
  for (int round = 0; round < 6; round++) all_at_once(round);
  freed_meanwhile();
  in_place();
  mixed_with_blocking();
  persistent();
  persistent_in_turn();
  for (int i = 0; i < 3; i++) duplicates();
  return finish();
}
