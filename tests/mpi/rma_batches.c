/* Many small operations between two synchronisations, which a library may carry out together: each is
 * complete behind each kind of synchronisation, accumulates on one place are in their order, and what is
 * wrong with an operation is said by its own call; MPI 11.3, 11.5, 11.7. */
typedef long element;
enum { longs = 1024, elements = longs, many = 200 };
#include "rma_check.h"

static const int flavors[] = {MPI_WIN_FLAVOR_CREATE, MPI_WIN_FLAVOR_DYNAMIC, MPI_WIN_FLAVOR_ALLOCATE,
                              MPI_WIN_FLAVOR_SHARED};

static int next(void) { return (rank + 1) % ranks; }
static int previous(void) { return (rank + ranks - 1) % ranks; }

static void clear(struct window* w) {
  OK(MPI_Barrier(MPI_COMM_WORLD));
  OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, w->win));
  memset(w->memory, 0, longs * sizeof(long));
  OK(MPI_Win_unlock(rank, w->win));
  OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* The ways of completing what was done with one target. */
enum way { by_flush, by_flush_all, by_flush_local, by_flush_local_all, by_unlock, by_unlock_all, ways };

static void begin_access(struct window* w, enum way way, int target) {
  if (way == by_unlock_all || way == by_flush_all || way == by_flush_local_all)
    OK(MPI_Win_lock_all(0, w->win));
  else
    OK(MPI_Win_lock(way == by_unlock ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, target, 0, w->win));
}
static void complete(struct window* w, enum way way, int target) {
  if (way == by_flush) OK(MPI_Win_flush(target, w->win));
  if (way == by_flush_all) OK(MPI_Win_flush_all(w->win));
  if (way == by_flush_local) OK(MPI_Win_flush_local(target, w->win));
  if (way == by_flush_local_all) OK(MPI_Win_flush_local_all(w->win));
  if (way == by_unlock) OK(MPI_Win_unlock(target, w->win));
  if (way == by_unlock_all) OK(MPI_Win_unlock_all(w->win));
}
static void end_access(struct window* w, enum way way, int target) {
  if (way == by_flush || way == by_flush_local) OK(MPI_Win_unlock(target, w->win));
  if (way == by_flush_all || way == by_flush_local_all) OK(MPI_Win_unlock_all(w->win));
}

/* Puts upwards, with gaps and downwards; then they are read back. Buffers are used again as soon as they may
 * be. */
static void puts_and_gets(struct window* w, enum way way) {
  static long values[many], got[many];
  for (int pass = 0; pass < 3; pass++) {
    clear(w);
    const int target = next();
    begin_access(w, way, target);
    for (int i = 0; i < many; i++) {
      const int place = pass == 0 ? i : pass == 1 ? 3 * i : many - 1 - i;
      values[i] = rank * 1000 + i;
      OK(MPI_Put(&values[i], 1, MPI_LONG, target, at(w, target, place), 1, MPI_LONG, w->win));
    }
    complete(w, way, target);
    for (int i = 0; i < many; i++) values[i] = got[i] = -1;
    end_access(w, way, target);
    begin_access(w, way, target);
    for (int i = 0; i < many; i++) {
      const int place = pass == 0 ? i : pass == 1 ? 3 * i : many - 1 - i;
      OK(MPI_Get(&got[i], 1, MPI_LONG, target, at(w, target, place), 1, MPI_LONG, w->win));
    }
    complete(w, way, target);
    for (int i = 0; i < many; i++) CHECK_EQ(got[i], rank * 1000 + i);
    end_access(w, way, target);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w->win));
    for (int i = 0; i < many; i++)
      CHECK_EQ(w->memory[pass == 0 ? i : pass == 1 ? 3 * i : many - 1 - i], previous() * 1000 + i);
    OK(MPI_Win_unlock(rank, w->win));
  }
}

/* Longer puts and gets between short ones and accumulates; buffers are used again as soon as they may be. */
static void longer(struct window* w, enum way way) {
  enum { blocks = 8, wide = 60, step = 120 };
  static long values[blocks][wide], got[blocks][wide];
  const long one = 1;
  const int target = next();
  clear(w);
  begin_access(w, way, target);
  for (int i = 0; i < blocks; i++) {
    for (int k = 0; k < wide; k++) values[i][k] = rank * 100000 + i * 1000 + k;
    OK(MPI_Put(values[i], wide, MPI_LONG, target, at(w, target, i * step), wide, MPI_LONG, w->win));
    OK(MPI_Put(values[i], 1, MPI_LONG, target, at(w, target, i * step + wide), 1, MPI_LONG, w->win));
    OK(MPI_Accumulate(&one, 1, MPI_LONG, target, at(w, target, longs - 1), 1, MPI_LONG, MPI_SUM, w->win));
  }
  complete(w, way, target);
  memset(values, 0, sizeof values);
  end_access(w, way, target);
  begin_access(w, way, target);
  for (int i = 0; i < blocks; i++)
    OK(MPI_Get(got[i], wide, MPI_LONG, target, at(w, target, i * step + 1), wide, MPI_LONG, w->win));
  complete(w, way, target);
  for (int i = 0; i < blocks; i++)
    for (int k = 0; k < wide; k++) CHECK_EQ(got[i][k], rank * 100000 + i * 1000 + (k < wide - 1 ? k + 1 : 0));
  end_access(w, way, target);
  OK(MPI_Barrier(MPI_COMM_WORLD));
  OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w->win));
  CHECK_EQ(w->memory[longs - 1], blocks);
  for (int i = 0; i < blocks; i++) {
    for (int k = 0; k < wide; k++) CHECK_EQ(w->memory[i * step + k], previous() * 100000 + i * 1000 + k);
    CHECK_EQ(w->memory[i * step + wide], previous() * 100000 + i * 1000);
    CHECK_EQ(w->memory[i * step + wide + 1], 0);
  }
  OK(MPI_Win_unlock(rank, w->win));
}

/* Fences, and groups of all; each rank goes from target to target, itself too. */
static void active_targets(struct window* w, int by_fence) {
  MPI_Group all;
  long value[many], got[16];
  OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
  clear(w);
  for (int round = 1; round <= 5; round++) {
    if (by_fence) OK(MPI_Win_fence(0, w->win));
    if (!by_fence) OK(MPI_Win_post(all, 0, w->win));
    if (!by_fence) OK(MPI_Win_start(all, 0, w->win));
    const long one = 1;
    for (int i = 0; i < many; i++) {
      const int target = i % ranks;
      value[i] = round * 1000 + i;
      OK(MPI_Put(&value[i], 1, MPI_LONG, target, at(w, target, rank * (longs / 16) + i / ranks % 40), 1,
                 MPI_LONG, w->win));
      OK(MPI_Accumulate(&one, 1, MPI_LONG, target, at(w, target, longs - 1), 1, MPI_LONG, MPI_SUM, w->win));
    }
    if (by_fence) OK(MPI_Win_fence(0, w->win));
    if (!by_fence) OK(MPI_Win_complete(w->win));
    if (!by_fence) OK(MPI_Win_wait(w->win));
    const int mine = many / ranks + (rank < many % ranks);
    CHECK_EQ(w->memory[longs - 1], (long)round * ranks * mine);
    if (by_fence) {
      for (int target = 0; target < ranks; target++)
        OK(MPI_Get(&got[target], 1, MPI_LONG, target, at(w, target, longs - 1), 1, MPI_LONG, w->win));
      OK(MPI_Win_fence(round == 5 ? MPI_MODE_NOSUCCEED : 0, w->win));
      for (int target = 0; target < ranks; target++)
        CHECK_EQ(got[target], (long)round * ranks * (many / ranks + (target < many % ranks)));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
  }
  OK(MPI_Group_free(&all));
}

/* Several ranks draw numbers of one counter, many at a time: all differ, and each rank's grow. */
static void counter(struct window* w, enum way way) {
  static long mine[many], all[16 * many];
  const long one = 1;
  clear(w);
  begin_access(w, way, 0);
  for (int i = 0; i < many; i++)
    OK(MPI_Fetch_and_op(&one, &mine[i], MPI_LONG, 0, at(w, 0, 7), MPI_SUM, w->win));
  complete(w, way, 0);
  for (int i = 1; i < many; i++) CHECK(mine[i] > mine[i - 1]);
  end_access(w, way, 0);
  OK(MPI_Gather(mine, many, MPI_LONG, all, many, MPI_LONG, 0, MPI_COMM_WORLD));
  if (rank != 0) return;
  char* seen = allocate((size_t)(ranks * many));
  for (int i = 0; i < ranks * many; i++) CHECK(all[i] >= 0 && all[i] < ranks * many && !seen[all[i]]++);
  free(seen);
}

/* Accumulates of one rank on one place, small and large, in one piece and not, with requests and without,
 * take effect in their order (11.7.2). */
static void order(struct window* w) {
  enum { wide = 100 };
  static long ones[wide], old[wide], seen[20];
  const long two = 2, five = 5, seven = 7, nine = 9, wrong = 100;
  const int target = next();
  MPI_Datatype every_second;
  MPI_Request request;
  for (int i = 0; i < wide; i++) ones[i] = 1;
  clear(w);
  OK(MPI_Type_vector(wide / 2, 1, 2, MPI_LONG, &every_second));
  OK(MPI_Type_commit(&every_second));
  OK(MPI_Win_lock_all(0, w->win));
#define ADD(value, op) \
  OK(MPI_Accumulate(&value, 1, MPI_LONG, target, at(w, target, 10), 1, MPI_LONG, op, w->win))
#define LOOK(i) OK(MPI_Fetch_and_op(NULL, &seen[i], MPI_LONG, target, at(w, target, 10), MPI_NO_OP, w->win))
#define SWAP(from, to, i) \
  OK(MPI_Compare_and_swap(&to, &from, &seen[i], MPI_LONG, target, at(w, target, 10), w->win))
  ADD(five, MPI_SUM);
  ADD(two, MPI_PROD);
  LOOK(0); /* 10 */
  ADD(seven, MPI_REPLACE);
  ADD(two, MPI_SUM);
  LOOK(1);            /* 9 */
  SWAP(nine, two, 2); /* is 9, becomes 2 */
  SWAP(nine, wrong, 3);
  ADD(five, MPI_MAX);
  OK(MPI_Accumulate(ones, wide, MPI_LONG, target, at(w, target, 0), wide, MPI_LONG, MPI_SUM, w->win));
  LOOK(4); /* 6 */
  OK(MPI_Accumulate(ones, wide / 2, MPI_LONG, target, at(w, target, 0), 1, every_second, MPI_SUM, w->win));
  LOOK(5); /* 7 */
  ADD(two, MPI_SUM);
  OK(MPI_Raccumulate(&seven, 1, MPI_LONG, target, at(w, target, 10), 1, MPI_LONG, MPI_PROD, w->win,
                     &request));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  LOOK(6); /* 63 */
  ADD(two, MPI_SUM);
  OK(MPI_Rget_accumulate(&five, 1, MPI_LONG, &seen[7], 1, MPI_LONG, target, at(w, target, 10), 1, MPI_LONG,
                         MPI_REPLACE, w->win, &request));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK_EQ(seen[7], 65);
  /* Places that reach into each other. */
  OK(MPI_Get_accumulate(ones, 8, MPI_LONG, old, 8, MPI_LONG, target, at(w, target, 6), 8, MPI_LONG, MPI_SUM,
                        w->win));
  ADD(two, MPI_PROD);
  OK(MPI_Get_accumulate(ones, 4, MPI_LONG, old + 8, 4, MPI_LONG, target, at(w, target, 9), 4, MPI_LONG,
                        MPI_REPLACE, w->win));
  LOOK(8); /* 1 */
  OK(MPI_Win_flush(target, w->win));
  const long expected[9] = {10, 9, 9, 2, 6, 7, 63, 65, 1};
  for (int i = 0; i < 9; i++) CHECK_EQ(seen[i], expected[i]);
  for (int i = 0; i < 8; i++) CHECK_EQ(old[i], i == 4 ? 5 : i % 2 == 0 ? 2 : 1);
  const long behind[4] = {2, 12, 2, 3};
  for (int i = 0; i < 4; i++) CHECK_EQ(old[8 + i], behind[i]);
  OK(MPI_Win_unlock_all(w->win));
  OK(MPI_Type_free(&every_second));
#undef ADD
#undef LOOK
#undef SWAP
}

/* Elements of all sizes between each other, and pairs with a gap. */
static void types(struct window* w) {
  struct pair {
    double value;
    int rank;
  } pair = {rank + 0.5, rank};
  const int target = next();
  const MPI_Aint base = at(w, target, 0);
  const char letter = (char)('a' + rank);
  const short number = (short)(rank + 1);
  const float half = 0.5f;
  const double third = 3;
  const long double large = 1e30L;
  clear(w);
  OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, w->win));
  for (int i = 0; i < 20; i++) {
    OK(MPI_Put(&letter, 1, MPI_CHAR, target, base + i, 1, MPI_CHAR, w->win));
    OK(MPI_Accumulate(&number, 1, MPI_SHORT, target, base + 100 + 2 * i, 1, MPI_SHORT, MPI_SUM, w->win));
    OK(MPI_Accumulate(&half, 1, MPI_FLOAT, target, base + 200 + 4 * (i % 3), 1, MPI_FLOAT, MPI_SUM, w->win));
    OK(MPI_Accumulate(&third, 1, MPI_DOUBLE, target, base + 400 + 8 * i, 1, MPI_DOUBLE, MPI_SUM, w->win));
    OK(MPI_Accumulate(&large, 1, MPI_LONG_DOUBLE, target, base + 800, 1, MPI_LONG_DOUBLE, MPI_SUM, w->win));
    OK(MPI_Accumulate(&pair, 1, MPI_DOUBLE_INT, target, base + 1600, 1, MPI_DOUBLE_INT, MPI_MAXLOC, w->win));
  }
  OK(MPI_Win_unlock(target, w->win));
  OK(MPI_Barrier(MPI_COMM_WORLD));
  OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w->win));
  const char* memory = (const char*)w->memory;
  for (int i = 0; i < 20; i++) {
    CHECK_EQ(memory[i], 'a' + previous());
    CHECK_EQ(((const short*)(const void*)(memory + 100))[i], previous() + 1);
    CHECK(((const double*)(const void*)(memory + 400))[i] == 3);
  }
  for (int i = 0; i < 3; i++) CHECK(((const float*)(const void*)(memory + 200))[i] == (i < 2 ? 3.5f : 3.0f));
  CHECK(*(const long double*)(const void*)(memory + 800) >= 1.9e31L);
  const struct pair* found = (const void*)(memory + 1600);
  CHECK(found->value == previous() + 0.5 && found->rank == previous());
  OK(MPI_Win_unlock(rank, w->win));
}

/* A request is complete by itself, with other operations before and behind it. */
static void requests(struct window* w) {
  const int target = next();
  long values[20], got = -1;
  MPI_Request request;
  clear(w);
  OK(MPI_Win_lock_all(0, w->win));
  for (int i = 0; i < 20; i++) {
    values[i] = rank * 100 + i;
    if (i % 5 != 4) {
      OK(MPI_Put(&values[i], 1, MPI_LONG, target, at(w, target, i), 1, MPI_LONG, w->win));
      continue;
    }
    OK(MPI_Rput(&values[i], 1, MPI_LONG, target, at(w, target, i), 1, MPI_LONG, w->win, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    values[i] = -1;
  }
  OK(MPI_Win_flush(target, w->win));
  OK(MPI_Rget(&got, 1, MPI_LONG, target, at(w, target, 3), 1, MPI_LONG, w->win, &request));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK_EQ(got, rank * 100 + 3);
  OK(MPI_Win_unlock_all(w->win));
  OK(MPI_Barrier(MPI_COMM_WORLD));
  OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w->win));
  for (int i = 0; i < 20; i++) CHECK_EQ(w->memory[i], previous() * 100 + i);
  OK(MPI_Win_unlock(rank, w->win));
}

static int class_of(int code) {
  int error_class = MPI_SUCCESS;
  OK(MPI_Error_class(code, &error_class));
  return error_class;
}

/* A wrong operation says so itself, and those before and behind it take effect. */
static void errors(struct window* w) {
  const int target = next();
  const long value = 4, sum = 3;
  long got = -1;
  const MPI_Aint far = at(w, target, longs + 4096 * 1024);
  if (!is_strict()) return;
  clear(w);
  OK(MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN));
  OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, w->win));
  OK(MPI_Put(&value, 1, MPI_LONG, target, at(w, target, 1), 1, MPI_LONG, w->win));
  CHECK_EQ(class_of(MPI_Put(&value, 1, MPI_LONG, target, far, 1, MPI_LONG, w->win)), MPI_ERR_RMA_RANGE);
  CHECK_EQ(class_of(MPI_Get(&got, 1, MPI_LONG, target, far, 1, MPI_LONG, w->win)), MPI_ERR_RMA_RANGE);
  OK(MPI_Accumulate(&sum, 1, MPI_LONG, target, at(w, target, 2), 1, MPI_LONG, MPI_SUM, w->win));
  CHECK_EQ(class_of(MPI_Accumulate(&sum, 1, MPI_LONG, target, far, 1, MPI_LONG, MPI_SUM, w->win)),
           MPI_ERR_RMA_RANGE);
  CHECK_EQ(class_of(MPI_Fetch_and_op(&sum, &got, MPI_LONG, target, far, MPI_SUM, w->win)), MPI_ERR_RMA_RANGE);
  CHECK_EQ(class_of(MPI_Compare_and_swap(&sum, &value, &got, MPI_LONG, target, far, w->win)),
           MPI_ERR_RMA_RANGE);
  CHECK_EQ(class_of(MPI_Put(&value, 1, MPI_LONG, ranks, at(w, target, 1), 1, MPI_LONG, w->win)),
           MPI_ERR_RANK);
  CHECK_EQ(class_of(MPI_Win_fence(0, w->win)), MPI_ERR_RMA_SYNC);
  OK(MPI_Accumulate(&sum, 1, MPI_LONG, target, at(w, target, 2), 1, MPI_LONG, MPI_SUM, w->win));
  OK(MPI_Win_unlock(target, w->win));
  OK(MPI_Barrier(MPI_COMM_WORLD));
  OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w->win));
  CHECK_EQ(w->memory[1], 4);
  CHECK_EQ(w->memory[2], 6);
  CHECK_EQ(got, -1);
  OK(MPI_Win_unlock(rank, w->win));
  OK(MPI_Win_set_errhandler(w->win, MPI_ERRORS_ARE_FATAL));
}

/* The window ends right behind the last synchronisation, and the memory is the program's again. */
static void freed_at_once(int by_fence) {
  long memory[many] = {0}, values[many];
  MPI_Win win;
  for (int i = 0; i < many; i++) values[i] = rank + i;
  OK(MPI_Win_create(memory, sizeof memory, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  if (by_fence)
    OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
  else
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next(), 0, win));
  for (int i = 0; i < many; i++)
    OK(MPI_Accumulate(&values[i], 1, MPI_LONG, next(), i, 1, MPI_LONG, MPI_REPLACE, win));
  if (by_fence)
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
  else
    OK(MPI_Win_unlock(next(), win));
  OK(MPI_Win_free(&win));
  for (int i = 0; i < many; i++) CHECK_EQ(memory[i], previous() + i);
}

int main(int argc, char** argv) {
  begin("many small one-sided operations at a time", &argc, &argv);
  for (int i = 0; i < 4; i++) {
    struct window w = make(flavors[i]);
    for (enum way way = 0; way < ways; way++) {
      if (!is_strict() && (way == by_flush_all || way == by_flush_local_all)) continue;
      puts_and_gets(&w, way);
      longer(&w, way);
      counter(&w, way);
    }
    order(&w);
    types(&w);
    requests(&w);
    errors(&w);
    active_targets(&w, 0);
    active_targets(&w, 1);
    end(&w, flavors[i]);
  }
  freed_at_once(0);
  freed_at_once(1);
  return finish();
}
