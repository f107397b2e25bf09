/* Put, get and accumulates on every kind of window and with datatypes of all shapes; MPI 11.3. */
typedef int element;
enum { ints = 4096, elements = ints };
#include "rma_check.h"

/* Types that choose some of the first 600 integers, each in another order or shape, and the indices they
 * choose. */
enum { shapes = 5 };

static MPI_Datatype shape(int which, int* count, int indices[600], int* chosen) {
  MPI_Datatype type, inner;
  *chosen = 0;
  *count = 1;
  switch (which) {
    case 0:
      OK(MPI_Type_contiguous(300, MPI_INT, &type));
      for (int i = 0; i < 300; i++) indices[(*chosen)++] = i;
      break;
    case 1:
      OK(MPI_Type_vector(150, 2, 4, MPI_INT, &type));
      for (int i = 0; i < 150; i++)
        for (int k = 0; k < 2; k++) indices[(*chosen)++] = 4 * i + k;
      break;
    case 2: {
      int displacements[300];
      for (int i = 0; i < 300; i++) displacements[i] = indices[(*chosen)++] = 598 - 2 * i;
      OK(MPI_Type_create_indexed_block(300, 1, displacements, MPI_INT, &type));
      break;
    }
    case 3: {
      /* Two elements of a struct with a hole, resized. */
      int lengths[2] = {100, 50};
      MPI_Aint places[2] = {4, 440};
      MPI_Datatype types[2] = {MPI_INT, MPI_INT};
      OK(MPI_Type_create_struct(2, lengths, places, types, &inner));
      OK(MPI_Type_create_resized(inner, 0, 800, &type));
      OK(MPI_Type_free(&inner));
      *count = 2;
      for (int e = 0; e < 2; e++) {
        for (int i = 0; i < 100; i++) indices[(*chosen)++] = 200 * e + 1 + i;
        for (int i = 0; i < 50; i++) indices[(*chosen)++] = 200 * e + 110 + i;
      }
      break;
    }
    default: {
      int sizes[2] = {30, 20}, subsizes[2] = {20, 15}, starts[2] = {5, 3};
      OK(MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_INT, &type));
      for (int i = 0; i < 20; i++)
        for (int k = 0; k < 15; k++) indices[(*chosen)++] = 20 * (5 + i) + 3 + k;
    }
  }
  OK(MPI_Type_commit(&type));
  CHECK_EQ(*chosen, 300);
  return type;
}

/* Each pair of shapes: what the origin's chooses arrives where the target's does, and nowhere else; and comes
 * back. */
static void put_and_get(struct window* w) {
  const int target = (rank + 1) % ranks, source = (rank + ranks - 1) % ranks;
  static int values[600], back[600], expected[600];
  for (int a = 0; a < shapes; a++)
    for (int b = 0; b < shapes; b++) {
      int from[600], to[600], from_count, to_count, chosen;
      MPI_Datatype origin = shape(a, &from_count, from, &chosen), remote = shape(b, &to_count, to, &chosen);
      fill(values, 600, (uint32_t)rank, (uint32_t)(a * shapes + b));
      for (int i = 0; i < 600; i++) w->memory[i] = back[i] = -1;
      OK(MPI_Win_fence(0, w->win));
      OK(MPI_Put(values, from_count, origin, target, at(w, target, 0), to_count, remote, w->win));
      OK(MPI_Win_fence(0, w->win));
      for (int i = 0; i < 600; i++) expected[i] = -1;
      for (int i = 0; i < chosen; i++)
        expected[to[i]] = (int)pattern((uint32_t)source, (uint32_t)(a * shapes + b), (uint32_t)from[i]);
      CHECK(memcmp(expected, w->memory, sizeof expected) == 0);
      OK(MPI_Get(back, from_count, origin, target, at(w, target, 0), to_count, remote, w->win));
      OK(MPI_Win_fence(0, w->win));
      for (int i = 0; i < 600; i++) expected[i] = -1;
      for (int i = 0; i < chosen; i++) expected[from[i]] = values[from[i]];
      CHECK(memcmp(expected, back, sizeof expected) == 0);
      OK(MPI_Type_free(&origin));
      OK(MPI_Type_free(&remote));
    }
}

/* All ranks add to the same place of rank 0 at the same time. */
static void accumulates(struct window* w) {
  int indices[600], count, chosen;
  MPI_Datatype type = shape(1, &count, indices, &chosen);
  static int ones[600];
  for (int i = 0; i < 600; i++) ones[i] = 1;
  memset(w->memory, 0, 2400);
  OK(MPI_Win_fence(0, w->win));
  for (int round = 0; round < 10; round++) {
    OK(MPI_Accumulate(ones, 300, MPI_INT, 0, at(w, 0, 0), count, type, MPI_SUM, w->win));
    OK(MPI_Accumulate(ones, 1, type, 0, at(w, 0, 0), 300, MPI_INT, MPI_SUM, w->win));
  }
  OK(MPI_Win_fence(0, w->win));
  if (rank == 0)
    for (int i = 0; i < 600; i++) CHECK_EQ(w->memory[i], 10 * ranks * ((i < 300) + (i % 4 < 2)));
  OK(MPI_Type_free(&type));
  OK(MPI_Win_fence(0, w->win));
  /* A pair with a gap in it. */
  struct {
    double value;
    int rank;
  } pair = {rank * 1.5, rank}, *place = (void*)w->memory;
  place->value = -1, place->rank = -1;
  OK(MPI_Win_fence(0, w->win));
  OK(MPI_Accumulate(&pair, 1, MPI_DOUBLE_INT, ranks - 1, at(w, ranks - 1, 0), 1, MPI_DOUBLE_INT, MPI_MAXLOC,
                    w->win));
  OK(MPI_Win_fence(0, w->win));
  if (rank == ranks - 1) CHECK(place->value == (ranks - 1) * 1.5 && place->rank == ranks - 1);
  OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
}

/* Numbers from a counter are all different. */
static void counters(struct window* w) {
  enum { rounds = 50 };
  static int mine[rounds], all[16 * rounds];
  const int one = 1;
  w->memory[0] = w->memory[1] = 0;
  OK(MPI_Barrier(MPI_COMM_WORLD));
  OK(MPI_Win_lock_all(0, w->win));
  for (int i = 0; i < rounds; i++) {
    if (i % 2) {
      OK(MPI_Fetch_and_op(&one, &mine[i], MPI_INT, 0, at(w, 0, 0), MPI_SUM, w->win));
      OK(MPI_Win_flush(0, w->win));
    } else {
      int old = 0, seen = -1, wanted;
      OK(MPI_Fetch_and_op(NULL, &old, MPI_INT, 0, at(w, 0, 0), MPI_NO_OP, w->win));
      OK(MPI_Win_flush(0, w->win));
      for (;; old = seen) {
        wanted = old + 1;
        OK(MPI_Compare_and_swap(&wanted, &old, &seen, MPI_INT, 0, at(w, 0, 0), w->win));
        OK(MPI_Win_flush(0, w->win));
        if (seen == old) break;
      }
      mine[i] = old;
    }
  }
  OK(MPI_Win_unlock_all(w->win));
  OK(MPI_Gather(mine, rounds, MPI_INT, all, rounds, MPI_INT, 0, MPI_COMM_WORLD));
  if (rank == 0) {
    char* seen = allocate((size_t)(ranks * rounds));
    for (int i = 0; i < ranks * rounds; i++) {
      CHECK(all[i] >= 0 && all[i] < ranks * rounds && !seen[all[i]]);
      seen[all[i]] = 1;
    }
    free(seen);
  }
}

static void get_accumulates(struct window* w) {
  enum { count = 100 };
  const int target = (rank + 1) % ranks;
  double given[count], got[count], *place = (double*)(void*)(w->memory + 1000);
  for (int i = 0; i < count; i++) place[i] = rank + i, given[i] = 0.5;
  OK(MPI_Win_fence(0, w->win));
  OK(MPI_Get_accumulate(given, count, MPI_DOUBLE, got, count, MPI_DOUBLE, target, at(w, target, 1000), count,
                        MPI_DOUBLE, MPI_SUM, w->win));
  OK(MPI_Win_fence(0, w->win));
  for (int i = 0; i < count; i++) CHECK(got[i] == target + i && place[i] == rank + i + 0.5);
  OK(MPI_Win_fence(0, w->win));
  OK(MPI_Get_accumulate(given, count, MPI_DOUBLE, got, count, MPI_DOUBLE, target, at(w, target, 1000), count,
                        MPI_DOUBLE, MPI_REPLACE, w->win));
  OK(MPI_Win_fence(0, w->win));
  for (int i = 0; i < count; i++) CHECK(got[i] == target + i + 0.5 && place[i] == 0.5);
  OK(MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, got, count, MPI_DOUBLE, target, at(w, target, 1000),
                        count, MPI_DOUBLE, MPI_NO_OP, w->win));
  OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
  for (int i = 0; i < count; i++) CHECK(got[i] == 0.5 && place[i] == 0.5);
}

static void requests(struct window* w) {
  const int target = (rank + 1) % ranks, source = (rank + ranks - 1) % ranks, one = 1;
  int value = rank + 7, got = -1, old = -1;
  MPI_Request request[2];
  w->memory[0] = w->memory[1] = 0;
  OK(MPI_Barrier(MPI_COMM_WORLD));
  OK(MPI_Win_lock_all(0, w->win));
  OK(MPI_Rput(&value, 1, MPI_INT, target, at(w, target, 0), 1, MPI_INT, w->win, &request[0]));
  OK(MPI_Raccumulate(&one, 1, MPI_INT, target, at(w, target, 1), 1, MPI_INT, MPI_SUM, w->win, &request[1]));
  OK(MPI_Waitall(2, request, MPI_STATUSES_IGNORE));
  CHECK(request[0] == MPI_REQUEST_NULL && request[1] == MPI_REQUEST_NULL);
  OK(MPI_Win_flush(target, w->win));
  OK(MPI_Rget(&got, 1, MPI_INT, target, at(w, target, 0), 1, MPI_INT, w->win, &request[0]));
  OK(MPI_Rget_accumulate(&one, 1, MPI_INT, &old, 1, MPI_INT, target, at(w, target, 1), 1, MPI_INT, MPI_SUM,
                         w->win, &request[1]));
  OK(MPI_Wait(&request[0], MPI_STATUS_IGNORE));
  OK(MPI_Wait(&request[1], MPI_STATUS_IGNORE));
  OK(MPI_Win_unlock_all(w->win));
  CHECK_EQ(got, rank + 7);
  CHECK_EQ(old, 1);
  OK(MPI_Barrier(MPI_COMM_WORLD));
  OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w->win));
  CHECK_EQ(w->memory[0], source + 7);
  CHECK_EQ(w->memory[1], 2);
  OK(MPI_Win_unlock(rank, w->win));
}

/* More than one system call or one chunk moves. */
static void large(void) {
  enum { count = 1 << 18 };
  int* memory = allocate(2 * count * sizeof(int));
  int* values = allocate(count * sizeof(int));
  MPI_Win win;
  MPI_Datatype sparse;
  const int target = (rank + 1) % ranks, source = (rank + ranks - 1) % ranks;
  OK(MPI_Type_vector(count, 1, 2, MPI_INT, &sparse));
  OK(MPI_Type_commit(&sparse));
  fill(values, count, (uint32_t)rank, 5);
  OK(MPI_Win_create(memory, 2 * count * (MPI_Aint)sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  OK(MPI_Win_fence(0, win));
  OK(MPI_Put(values, count, MPI_INT, target, 0, 1, sparse, win));
  OK(MPI_Win_fence(0, win));
  for (int i = 0; i < count; i++) {
    CHECK(memory[2 * i] == (int)pattern((uint32_t)source, 5, (uint32_t)i));
    CHECK_EQ(memory[2 * i + 1], 0);
  }
  OK(MPI_Win_fence(0, win));
  for (int i = 0; i < count; i++) values[i] = 0;
  OK(MPI_Accumulate(values, count, MPI_INT, target, 0, 1, sparse, MPI_BAND, win));
  OK(MPI_Win_fence(0, win));
  for (int i = 0; i < 2 * count; i++) CHECK_EQ(memory[i], 0);
  OK(MPI_Win_free(&win));
  OK(MPI_Type_free(&sparse));
  free(memory);
  free(values);
}

int main(int argc, char** argv) {
  const int flavors[] = {MPI_WIN_FLAVOR_CREATE, MPI_WIN_FLAVOR_ALLOCATE, MPI_WIN_FLAVOR_SHARED,
                         MPI_WIN_FLAVOR_DYNAMIC};
  begin("one-sided communication", &argc, &argv);
  for (int i = 0; i < 4; i++) {
    struct window w = make(flavors[i]);
    put_and_get(&w);
    accumulates(&w);
    counters(&w);
    get_accumulates(&w);
    requests(&w);
    end(&w, flavors[i]);
  }
  large();
  return finish();
}
