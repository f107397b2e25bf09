/* Collectives with a length for each pair, of lengths that the library may take from memory to memory:
 * several at a time, completed in another order, persistent, in place, with gaps at either end, and between
 * groups. */
#include "check.h"

/* Around what the library takes as the switch points, in values of 4 bytes. */
static int length(int from, int to, int round) {
  static const int lengths[] = {0, 7, 16383, 16384, 40000, 150000};
  return lengths[(from + 2 * to + round) % 6];
}

typedef struct {
  int *counts, *places, *values, total;
} Parts;

/* `apart`: values between a part's element and the next. */
static Parts parts_of(int round, int to_here, int apart) {
  Parts parts = {allocate(sizeof(int) * (size_t)ranks), allocate(sizeof(int) * (size_t)ranks), NULL, 1};
  for (int r = ranks - 1; r >= 0; r--) {
    parts.counts[r] = to_here ? length(r, rank, round) : length(rank, r, round);
    parts.places[r] = parts.total;
    parts.total += parts.counts[r] + 1;
  }
  parts.values = allocate(sizeof(int) * (size_t)(parts.total * apart));
  memset(parts.values, 0xff, sizeof(int) * (size_t)(parts.total * apart));
  return parts;
}

static void free_parts(Parts* parts) { free(parts->counts), free(parts->places), free(parts->values); }

static int value(int from, int to, int round, int i) { return from * 31 + to * 17 + round * 7 + i; }

static void give(Parts* parts, int round, int apart) {
  for (int r = 0; r < ranks; r++)
    for (int i = 0; i < parts->counts[r]; i++)
      parts->values[(parts->places[r] + i) * apart] = value(rank, r, round, i);
}

static void check_taken(const Parts* parts, int round, int apart) {
  for (int r = 0; r < ranks; r++) {
    for (int i = 0; i < parts->counts[r]; i++)
      if (parts->values[(parts->places[r] + i) * apart] != value(r, rank, round, i))
        CHECK_EQ(r * 1000000 + i, -1);
    CHECK_EQ(parts->values[(parts->places[r] + parts->counts[r]) * apart], -1);
    if (apart > 1 && parts->counts[r] > 0) CHECK_EQ(parts->values[parts->places[r] * apart + 1], -1);
  }
}

/* Three at once, of which the last is waited for first. */
static void at_once(void) {
  Parts given[3], taken[3];
  MPI_Request requests[3];
  for (int k = 0; k < 3; k++) {
    given[k] = parts_of(k, 0, 1), taken[k] = parts_of(k, 1, 1);
    give(&given[k], k, 1);
    OK(MPI_Ialltoallv(given[k].values, given[k].counts, given[k].places, MPI_INT, taken[k].values,
                      taken[k].counts, taken[k].places, MPI_INT, MPI_COMM_WORLD, &requests[k]));
  }
  int sum = 0;
  OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK_EQ(sum, ranks * (ranks - 1) / 2);
  for (int k = 2; k >= 0; k--) {
    OK(MPI_Wait(&requests[k], MPI_STATUS_IGNORE));
    check_taken(&taken[k], k, 1);
    free_parts(&given[k]), free_parts(&taken[k]);
  }
}

static void persistent(void) {
  Parts given = parts_of(4, 0, 1), taken = parts_of(4, 1, 1);
  MPI_Request request;
  OK(MPI_Alltoallv_init(given.values, given.counts, given.places, MPI_INT, taken.values, taken.counts,
                        taken.places, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
  for (int round = 0; round < 3; round++) {
    give(&given, round, 1);
    OK(MPI_Start(&request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check_taken(&taken, round, 1);
  }
  OK(MPI_Request_free(&request));
  free_parts(&given), free_parts(&taken);
}

/* What goes there is as long as what comes back. */
static void in_place(void) {
  Parts both = parts_of(0, 0, 1);
  both.total = 1;
  for (int r = 0; r < ranks; r++) {
    both.counts[r] = length(rank < r ? rank : r, rank < r ? r : rank, 4);
    both.places[r] = both.total;
    both.total += both.counts[r] + 1;
  }
  free(both.values);
  both.values = allocate(sizeof(int) * (size_t)both.total);
  memset(both.values, 0xff, sizeof(int) * (size_t)both.total);
  give(&both, 9, 1);
  OK(MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, both.values, both.counts, both.places,
                   MPI_INT, MPI_COMM_WORLD));
  check_taken(&both, 9, 1);
  free_parts(&both);
}

/* Every third value, at one end or at both. */
static void with_gaps(int given_apart, int taken_apart) {
  MPI_Datatype spaced;
  OK(MPI_Type_create_resized(MPI_INT, 0, 3 * sizeof(int), &spaced));
  OK(MPI_Type_commit(&spaced));
  for (int round = 4; round < 6; round++) {
    Parts given = parts_of(round, 0, given_apart), taken = parts_of(round, 1, taken_apart);
    give(&given, round, given_apart);
    OK(MPI_Alltoallv(given.values, given.counts, given.places, given_apart == 3 ? spaced : MPI_INT,
                     taken.values, taken.counts, taken.places, taken_apart == 3 ? spaced : MPI_INT,
                     MPI_COMM_WORLD));
    check_taken(&taken, round, taken_apart);
    free_parts(&given), free_parts(&taken);
  }
  OK(MPI_Type_free(&spaced));
}

/* To and from each rank in turn: the next root may begin before the one before is done. */
static void rooted(void) {
  enum { longest = 200000 };
  int *counts = allocate(sizeof(int) * (size_t)ranks), *places = allocate(sizeof(int) * (size_t)ranks);
  int *all = allocate(sizeof(int) * (size_t)(ranks * longest)), *own = allocate(sizeof(int) * longest);
  for (int root = 0; root < ranks; root++) {
    MPI_Request request;
    for (int r = 0; r < ranks; r++)
      counts[r] = r == (root + 1) % ranks ? longest : length(r, root, 3), places[r] = r * longest;
    for (int i = 0; i < counts[rank]; i++) own[i] = value(rank, root, 0, i);
    OK(MPI_Igatherv(own, counts[rank], MPI_INT, all, counts, places, MPI_INT, root, MPI_COMM_WORLD,
                    &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int r = 0; r < ranks && rank == root; r++)
      for (int i = 0; i < counts[r]; i++)
        if (all[places[r] + i] != value(r, root, 0, i)) CHECK_EQ(i, -1);
    memset(own, 0, sizeof(int) * longest);
    OK(MPI_Scatterv(all, counts, places, MPI_INT, own, counts[rank], MPI_INT, root, MPI_COMM_WORLD));
    for (int i = 0; i < counts[rank]; i++)
      if (own[i] != value(rank, root, 0, i)) CHECK_EQ(i, -1);
  }
  free(counts), free(places), free(all), free(own);
}

/* Even and odd ranks: each gives each of the others as many. */
static void between_groups(void) {
  enum { each = 50000 };
  MPI_Comm half, inter;
  int others;
  OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half));
  OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 1, &inter));
  OK(MPI_Comm_remote_size(inter, &others));
  int *counts = allocate(sizeof(int) * (size_t)others), *places = allocate(sizeof(int) * (size_t)others);
  int *given = allocate(sizeof(int) * (size_t)(others * each)),
      *taken = allocate(sizeof(int) * (size_t)(others * each));
  for (int r = 0; r < others; r++) {
    counts[r] = each, places[r] = r * each;
    for (int i = 0; i < each; i++) given[places[r] + i] = value(rank, 2 * r + 1 - rank % 2, 1, i);
  }
  OK(MPI_Alltoallv(given, counts, places, MPI_INT, taken, counts, places, MPI_INT, inter));
  for (int r = 0; r < others; r++)
    for (int i = 0; i < each; i++)
      if (taken[places[r] + i] != value(2 * r + 1 - rank % 2, rank, 1, i)) CHECK_EQ(i, -1);
  free(counts), free(places), free(given), free(taken);
  OK(MPI_Comm_free(&inter));
  OK(MPI_Comm_free(&half));
}

int main(int argc, char** argv) {
  begin("coll_large_parts", &argc, &argv);
  at_once();
  persistent();
  in_place();
  with_gaps(3, 1), with_gaps(1, 3), with_gaps(3, 3);
  rooted();
  if (ranks > 1) between_groups();
  return finish();
}
