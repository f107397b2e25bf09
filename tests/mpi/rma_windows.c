/* Windows: how they are made, what they are, what they refuse; MPI 11.2. */
#include "check.h"

static int error_class(int code) {
  int found;
  OK(MPI_Error_class(code, &found));
  return found;
}

static void check_attributes(MPI_Win win, void* base, MPI_Aint size, int unit, int flavor) {
  void* found;
  int flag;
  OK(MPI_Win_get_attr(win, MPI_WIN_BASE, &found, &flag));
  CHECK(flag);
  if (size > 0 && is_strict()) CHECK(found == base);
  OK(MPI_Win_get_attr(win, MPI_WIN_SIZE, &found, &flag));
  CHECK(flag);
  CHECK_EQ(*(MPI_Aint*)found, size);
  OK(MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &found, &flag));
  CHECK(flag);
  CHECK_EQ(*(int*)found, unit);
  OK(MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &found, &flag));
  CHECK(flag);
  CHECK_EQ(*(int*)found, flavor);
  OK(MPI_Win_get_attr(win, MPI_WIN_MODEL, &found, &flag));
  CHECK(flag);
  CHECK_EQ(*(int*)found, MPI_WIN_UNIFIED);
}

static int copies, deletions;

static int destroy(MPI_Win win, int keyval, void* value, void* extra) {
  (void)win, (void)keyval, (void)extra;
  deletions += *(int*)value;
  return MPI_SUCCESS;
}

static void own_attributes(MPI_Win win) {
  static int value = 3;
  int keyval, flag;
  void* found;
  OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, destroy, &keyval, &copies));
  OK(MPI_Win_get_attr(win, keyval, &found, &flag));
  CHECK(!flag);
  OK(MPI_Win_set_attr(win, keyval, &value));
  OK(MPI_Win_get_attr(win, keyval, &found, &flag));
  CHECK(flag && found == &value);
  OK(MPI_Win_delete_attr(win, keyval));
  CHECK_EQ(deletions, 3);
  OK(MPI_Win_set_attr(win, keyval, &value));
  OK(MPI_Win_free_keyval(&keyval));
  CHECK_EQ(keyval, MPI_KEYVAL_INVALID);
}

static void names_and_groups(MPI_Win win) {
  char name[MPI_MAX_OBJECT_NAME] = "x";
  int length = -1, size, comparison;
  MPI_Group group, all;
  MPI_Info info;
  OK(MPI_Win_get_name(win, name, &length));
  CHECK_EQ(length, 0);
  OK(MPI_Win_set_name(win, "a window"));
  OK(MPI_Win_get_name(win, name, &length));
  CHECK(length == 8 && strcmp(name, "a window") == 0);
  OK(MPI_Win_get_group(win, &group));
  OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
  OK(MPI_Group_size(group, &size));
  CHECK_EQ(size, ranks);
  OK(MPI_Group_compare(group, all, &comparison));
  CHECK_EQ(comparison, MPI_IDENT);
  OK(MPI_Group_free(&group));
  OK(MPI_Group_free(&all));
  OK(MPI_Win_get_info(win, &info));
  CHECK(info != MPI_INFO_NULL);
  OK(MPI_Win_set_info(win, info));
  OK(MPI_Info_free(&info));
}

static void created(void) {
  int memory[10];
  MPI_Win win;
  OK(MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  CHECK(win != MPI_WIN_NULL);
  check_attributes(win, memory, sizeof memory, sizeof(int), MPI_WIN_FLAVOR_CREATE);
  names_and_groups(win);
  own_attributes(win);
  OK(MPI_Win_free(&win));
  CHECK(win == MPI_WIN_NULL);
  CHECK_EQ(deletions, 6);
  /* Some show nothing. */
  OK(MPI_Win_create(rank % 2 ? NULL : memory, rank % 2 ? 0 : 4, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  check_attributes(win, memory, rank % 2 ? 0 : 4, 1, MPI_WIN_FLAVOR_CREATE);
  OK(MPI_Win_free(&win));
}

static void allocated(void) {
  for (int round = 0; round < 3; round++) {
    MPI_Aint size = 1000 * round * (rank + 1);
    char* base = NULL;
    MPI_Win win;
    OK(MPI_Win_allocate(size, 2, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    check_attributes(win, base, size, 2, MPI_WIN_FLAVOR_ALLOCATE);
    for (int i = 0; i < size; i++) base[i] = (char)rank;
    OK(MPI_Win_free(&win));
  }
}

static void shared(int with_gaps) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Win win;
  int* mine;
  const MPI_Aint size = (rank + 1) * (MPI_Aint)sizeof(int);
  if (with_gaps) {
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "alloc_shared_noncontig", "true"));
  }
  OK(MPI_Win_allocate_shared(size, sizeof(int), info, MPI_COMM_WORLD, &mine, &win));
  if (with_gaps) OK(MPI_Info_free(&info));
  check_attributes(win, mine, size, sizeof(int), MPI_WIN_FLAVOR_SHARED);
  for (int i = 0; i <= rank; i++) mine[i] = 100 * rank + i;
  OK(MPI_Win_fence(0, win));
  int* before = NULL;
  for (int other = 0; other < ranks; other++) {
    MPI_Aint its_size;
    int unit, *its;
    OK(MPI_Win_shared_query(win, other, &its_size, &unit, &its));
    CHECK_EQ(its_size, (other + 1) * sizeof(int));
    CHECK_EQ(unit, sizeof(int));
    for (int i = 0; i <= other; i++) CHECK_EQ(its[i], 100 * other + i);
    if (before && !with_gaps) CHECK(its == before + other);
    before = its;
  }
  OK(MPI_Win_fence(0, win));
  OK(MPI_Win_free(&win));
}

/* MPI_PROC_NULL asks for the first rank that has memory. */
static void shared_by_the_last(void) {
  MPI_Win win;
  char *mine, *found;
  MPI_Aint size;
  int unit;
  OK(MPI_Win_allocate_shared(rank == ranks - 1 ? 64 : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win));
  OK(MPI_Win_shared_query(win, MPI_PROC_NULL, &size, &unit, &found));
  CHECK_EQ(size, 64);
  if (rank == 0) found[63] = 9;
  OK(MPI_Win_fence(0, win));
  CHECK_EQ(found[63], 9);
  OK(MPI_Win_free(&win));
}

static void dynamic(void) {
  int memory[4] = {0}, value = rank + 1;
  MPI_Aint address, addresses[16] = {0};
  MPI_Win win;
  OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  check_attributes(win, MPI_BOTTOM, 0, 1, MPI_WIN_FLAVOR_DYNAMIC);
  OK(MPI_Win_attach(win, memory, sizeof memory));
  OK(MPI_Get_address(memory, &address));
  OK(MPI_Allgather(&address, 1, MPI_AINT, addresses, 1, MPI_AINT, MPI_COMM_WORLD));
  const int target = (rank + 1) % ranks;
  OK(MPI_Win_fence(0, win));
  OK(MPI_Put(&value, 1, MPI_INT, target, MPI_Aint_add(addresses[target], 2 * sizeof(int)), 1, MPI_INT, win));
  OK(MPI_Win_fence(0, win));
  CHECK_EQ(memory[2], (rank + ranks - 1) % ranks + 1);
  if (is_strict()) {
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
    CHECK_EQ(error_class(MPI_Put(&value, 1, MPI_INT, target, addresses[target] + 4 * (MPI_Aint)sizeof(int), 1,
                                 MPI_INT, win)),
             MPI_ERR_RMA_RANGE);
    OK(MPI_Win_unlock(target, win));
    CHECK_EQ(error_class(MPI_Win_attach(win, memory + 1, 4)), MPI_ERR_RMA_ATTACH);
    CHECK_EQ(error_class(MPI_Win_detach(win, memory + 1)), MPI_ERR_RMA_ATTACH);
  }
  OK(MPI_Barrier(MPI_COMM_WORLD));
  OK(MPI_Win_detach(win, memory));
  OK(MPI_Win_free(&win));
}

/* MPICH has other classes for some. */
static void refusals(void) {
  if (!is_strict()) return;
  int memory[4], value = 1, flag;
  MPI_Win win = MPI_WIN_NULL, bad = MPI_WIN_NULL;
  MPI_Aint size;
  void* base;
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  CHECK_EQ(error_class(MPI_Win_fence(0, bad)), MPI_ERR_WIN);
  CHECK_EQ(error_class(MPI_Win_create(memory, -1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win)), MPI_ERR_SIZE);
  CHECK_EQ(error_class(MPI_Win_create(memory, 4, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &win)), MPI_ERR_DISP);
  OK(MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
  CHECK_EQ(error_class(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win)), MPI_ERR_RMA_SYNC);
  CHECK_EQ(error_class(MPI_Win_unlock(0, win)), MPI_ERR_RMA_SYNC);
  CHECK_EQ(error_class(MPI_Win_complete(win)), MPI_ERR_RMA_SYNC);
  CHECK_EQ(error_class(MPI_Win_wait(win)), MPI_ERR_RMA_SYNC);
  CHECK_EQ(error_class(MPI_Win_test(win, &flag)), MPI_ERR_RMA_SYNC);
  CHECK_EQ(error_class(MPI_Win_lock(1, 0, 0, win)), MPI_ERR_LOCKTYPE);
  CHECK_EQ(error_class(MPI_Win_lock(MPI_LOCK_SHARED, ranks, 0, win)), MPI_ERR_RANK);
  CHECK_EQ(error_class(MPI_Win_fence(1, win)), MPI_ERR_ASSERT);
  int unit;
  CHECK_EQ(error_class(MPI_Win_shared_query(win, 0, &size, &unit, &base)), MPI_ERR_RMA_FLAVOR);
  CHECK_EQ(error_class(MPI_Win_attach(win, memory, 4)), MPI_ERR_RMA_FLAVOR);
  OK(MPI_Win_fence(0, win));
  CHECK_EQ(error_class(MPI_Put(&value, -1, MPI_INT, 0, 0, 1, MPI_INT, win)), MPI_ERR_COUNT);
  CHECK_EQ(error_class(MPI_Put(&value, 1, MPI_INT, ranks, 0, 1, MPI_INT, win)), MPI_ERR_RANK);
  CHECK_EQ(error_class(MPI_Put(&value, 1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_INT, win)), MPI_ERR_TYPE);
  CHECK_EQ(error_class(MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_OP_NULL, win)), MPI_ERR_OP);
  CHECK_EQ(error_class(MPI_Put(&value, 1, MPI_INT, 0, -1, 1, MPI_INT, win)), MPI_ERR_DISP);
  CHECK_EQ(error_class(MPI_Put(&value, 1, MPI_INT, 0, 4, 1, MPI_INT, win)), MPI_ERR_RMA_RANGE);
  CHECK_EQ(error_class(MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_NO_OP, win)), MPI_ERR_OP);
  float floats[3] = {0};
  CHECK_EQ(error_class(MPI_Compare_and_swap(&floats[0], &floats[1], &floats[2], MPI_FLOAT, 0, 0, win)),
           MPI_ERR_TYPE);
  OK(MPI_Put(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win));
  OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
  OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
  CHECK_EQ(error_class(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win)), MPI_ERR_RMA_SYNC);
  CHECK_EQ(error_class(MPI_Win_fence(0, win)), MPI_ERR_RMA_SYNC);
  CHECK_EQ(error_class(MPI_Win_free(&win)), MPI_ERR_RMA_SYNC);
  OK(MPI_Win_unlock(rank, win));
  OK(MPI_Win_free(&win));
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

static int handled;

static void handle(MPI_Win* win, int* code, ...) {
  (void)win;
  handled = error_class(*code);
}

static void error_handlers(void) {
  int memory = 0;
  MPI_Errhandler handler, found;
  MPI_Win win;
  OK(MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  OK(MPI_Win_get_errhandler(win, &found));
  CHECK(found == MPI_ERRORS_ARE_FATAL);
  OK(MPI_Win_create_errhandler(handle, &handler));
  OK(MPI_Win_set_errhandler(win, handler));
  MPI_Win_call_errhandler(win, MPI_ERR_ASSERT);
  CHECK_EQ(handled, MPI_ERR_ASSERT);
  CHECK(MPI_Win_unlock(0, win) != MPI_SUCCESS);
  CHECK_EQ(handled, MPI_ERR_RMA_SYNC);
  OK(MPI_Errhandler_free(&handler));
  OK(MPI_Win_free(&win));
}

/* Windows of disjoint groups, at the same time. */
static void halves(void) {
  MPI_Comm half;
  MPI_Win win;
  int size, me, *mine, got = -1;
  OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half));
  OK(MPI_Comm_size(half, &size));
  OK(MPI_Comm_rank(half, &me));
  OK(MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, half, &mine, &win));
  OK(MPI_Comm_free(&half));
  *mine = rank;
  OK(MPI_Win_fence(0, win));
  OK(MPI_Get(&got, 1, MPI_INT, (me + 1) % size, 0, 1, MPI_INT, win));
  OK(MPI_Win_fence(0, win));
  CHECK_EQ(got % 2, rank % 2);
  CHECK(size == 1 ? got == rank : got != rank);
  OK(MPI_Win_free(&win));
}

/* Memory that nobody has written since the window was made; MPI leaves open what is in it. */
static void check_zero(const char* memory, MPI_Aint size) {
  for (MPI_Aint i = 0; i < size && is_strict(); i++) CHECK_EQ(memory[i], 0);
}

/* Uses all that a window's members share: counters of start and post, locks, accumulates, the fence. */
static void use(MPI_Win win, MPI_Aint displacement) {
  const int next = (rank + 1) % ranks, one = 1;
  int others[2] = {(rank + ranks - 1) % ranks, next}, before, after = -1;
  MPI_Group all, from, to;
  OK(MPI_Win_get_group(win, &all));
  OK(MPI_Group_incl(all, 1, &others[0], &from));
  OK(MPI_Group_incl(all, 1, &others[1], &to));
  OK(MPI_Win_post(from, 0, win));
  OK(MPI_Win_start(to, 0, win));
  OK(MPI_Accumulate(&one, 1, MPI_INT, next, displacement, 1, MPI_INT, MPI_SUM, win));
  OK(MPI_Win_complete(win));
  OK(MPI_Win_wait(win));
  for (int i = 0; i < 2; i++) {
    OK(MPI_Win_lock(i == 0 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, next, 0, win));
    OK(MPI_Fetch_and_op(&one, &before, MPI_INT, next, displacement, MPI_SUM, win));
    OK(MPI_Win_unlock(next, win));
    CHECK_EQ(before, i + 1);
  }
  OK(MPI_Win_fence(0, win));
  OK(MPI_Get(&after, 1, MPI_INT, next, displacement, 1, MPI_INT, win));
  OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
  CHECK_EQ(after, 3);
  OK(MPI_Group_free(&all));
  OK(MPI_Group_free(&from));
  OK(MPI_Group_free(&to));
}

static void created_and_used(void) {
  int memory = 0;
  MPI_Win win;
  OK(MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  use(win, 0);
  OK(MPI_Win_free(&win));
}

static void allocated_and_used(MPI_Aint size, int is_shared) {
  char* memory;
  MPI_Win win;
  OK(is_shared ? MPI_Win_allocate_shared(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win)
               : MPI_Win_allocate(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
  check_zero(memory, size);
  if (!is_strict()) memset(memory, 0, size);
  OK(MPI_Barrier(MPI_COMM_WORLD));
  use(win, 0);
  OK(MPI_Barrier(MPI_COMM_WORLD));
  memset(memory, 0x55, size);
  OK(MPI_Win_free(&win));
}

/* What was attached to one window is not to the next one. */
static void attached_and_used(void) {
  static int memory, never;
  MPI_Aint own, its, old, next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
  MPI_Win win;
  memory = 0;
  OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  OK(MPI_Get_address(&never, &own));
  OK(MPI_Sendrecv(&own, 1, MPI_AINT, previous, 0, &old, 1, MPI_AINT, next, 0, MPI_COMM_WORLD,
                  MPI_STATUS_IGNORE));
  OK(MPI_Get_address(&memory, &own));
  OK(MPI_Sendrecv(&own, 1, MPI_AINT, previous, 0, &its, 1, MPI_AINT, next, 0, MPI_COMM_WORLD,
                  MPI_STATUS_IGNORE));
  if (is_strict()) {
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win));
    CHECK_EQ(error_class(MPI_Put(&rank, 1, MPI_INT, next, old, 1, MPI_INT, win)), MPI_ERR_RMA_RANGE);
    OK(MPI_Win_unlock(next, win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
  }
  OK(MPI_Win_attach(win, &memory, sizeof memory));
  OK(MPI_Win_attach(win, &never, sizeof never));
  OK(MPI_Barrier(MPI_COMM_WORLD));
  use(win, its);
  OK(MPI_Win_free(&win));
}

/* More than a library keeps, by one rank only. */
static void many_alone(void) {
  enum { count = 40 };
  MPI_Win wins[count];
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < count; i++) {
      char* memory;
      OK(MPI_Win_allocate(1000, 1, MPI_INFO_NULL, MPI_COMM_SELF, &memory, &wins[i]));
      check_zero(memory, 1000);
      memset(memory, 1, 1000);
    }
    for (int i = 0; i < count; i++) OK(MPI_Win_free(&wins[(i * 7 + pass) % count]));
  }
}

/* A library may keep what it has made for a window: the next one is as new, whatever came before it. */
static void again(void) {
  const MPI_Aint sizes[] = {64, 5000, 64, 300000, 16, 4096, 3000000, 3000000, 8};
  for (int round = 0; round < 9; round++) {
    created_and_used();
    allocated_and_used(round % 3 == 2 ? sizes[round] * (1 + rank % 2) : sizes[round], round % 2);
    attached_and_used();
    if (rank == round % ranks && round % 4 == 3) many_alone();
  }
}

/* The same ranks in another order, and some of them. */
static void again_elsewhere(void) {
  MPI_Comm reversed;
  OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed));
  for (int round = 0; round < 4; round++) {
    char *memory, *other;
    MPI_Win win, before;
    OK(MPI_Win_allocate(100, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &other, &before));
    check_zero(other, 100);
    OK(MPI_Win_allocate(100, 1, MPI_INFO_NULL, reversed, &memory, &win));
    check_zero(memory, 100);
    memset(memory, rank + 1, 100);
    check_zero(other, 100);
    memset(other, 3, 100);
    halves();
    for (int i = 0; i < 100; i++) CHECK_EQ(memory[i], rank + 1);
    OK(MPI_Win_free(round % 2 ? &win : &before));
    OK(MPI_Win_free(round % 2 ? &before : &win));
  }
  OK(MPI_Comm_free(&reversed));
}

int main(int argc, char** argv) {
  begin("windows", &argc, &argv);
  created();
  allocated();
  shared(0);
  shared(1);
  shared_by_the_last();
  dynamic();
  refusals();
  error_handlers();
  halves();
  if (is_strict()) again();
  again_elsewhere();
  return finish();
}
