/* How ranks take turns with a window: fence, post and start, locks, flush; MPI 11.5. */
#include "check.h"

static int* memory;
static MPI_Win win;

static int next(void) { return (rank + 1) % ranks; }
static int previous(void) { return (rank + ranks - 1) % ranks; }

static int of_the_program; /* whose memory the window shows */

static void make(int count) {
  const MPI_Aint bytes = count * (MPI_Aint)sizeof(int);
  if (of_the_program) {
    memory = allocate((size_t)bytes);
    OK(MPI_Win_create(memory, bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    return;
  }
  OK(MPI_Win_allocate(bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
  memset(memory, 0, (size_t)bytes);
  OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void end(void) {
  OK(MPI_Win_free(&win));
  if (of_the_program) free(memory);
}

static void fences(void) {
  make(2);
  OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
  for (int round = 1; round <= 50; round++) {
    int value = round * 100 + rank;
    OK(MPI_Put(&value, 1, MPI_INT, next(), 0, 1, MPI_INT, win));
    OK(MPI_Win_fence(0, win));
    CHECK_EQ(memory[0], round * 100 + previous());
    int got = -1;
    OK(MPI_Get(&got, 1, MPI_INT, previous(), 0, 1, MPI_INT, win));
    OK(MPI_Win_fence(round == 50 ? MPI_MODE_NOSUCCEED : MPI_MODE_NOSTORE | MPI_MODE_NOPUT, win));
    CHECK_EQ(got, round * 100 + (previous() + ranks - 1) % ranks);
  }
  end();
}

/* The odd ranks write to the even ones below them. */
static void post_and_start(int use_test) {
  MPI_Group all, partner;
  make(1);
  OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
  for (int round = 1; round <= 30; round++) {
    const int is_origin = rank % 2 == 1, other = is_origin ? rank - 1 : rank + 1;
    if (other >= ranks) continue;
    OK(MPI_Group_incl(all, 1, &other, &partner));
    if (is_origin) {
      int value = round;
      OK(MPI_Win_start(partner, 0, win));
      OK(MPI_Put(&value, 1, MPI_INT, other, 0, 1, MPI_INT, win));
      OK(MPI_Win_complete(win));
    } else {
      OK(MPI_Win_post(partner, 0, win));
      int flag = !use_test;
      if (!use_test) OK(MPI_Win_wait(win));
      while (!flag) OK(MPI_Win_test(win, &flag));
      CHECK_EQ(memory[0], round);
    }
    OK(MPI_Group_free(&partner));
  }
  OK(MPI_Group_free(&all));
  end();
}

/* Everybody is origin and target of everybody. */
static void all_to_all(void) {
  MPI_Group all;
  make(16);
  OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
  for (int round = 1; round <= 10; round++) {
    OK(MPI_Win_post(all, 0, win));
    OK(MPI_Win_start(all, 0, win));
    for (int target = 0; target < ranks; target++) {
      int value = round * 1000 + rank;
      OK(MPI_Put(&value, 1, MPI_INT, target, rank, 1, MPI_INT, win));
    }
    OK(MPI_Win_complete(win));
    OK(MPI_Win_wait(win));
    for (int origin = 0; origin < ranks; origin++) CHECK_EQ(memory[origin], round * 1000 + origin);
  }
  OK(MPI_Group_free(&all));
  end();
}

/* Read and write under an exclusive lock: nothing is lost. */
static void exclusive_counter(void) {
  enum { rounds = 100 };
  make(1);
  for (int round = 0; round < rounds; round++) {
    int value;
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
    OK(MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win));
    OK(MPI_Win_flush(0, win));
    value++;
    OK(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win));
    OK(MPI_Win_unlock(0, win));
  }
  OK(MPI_Barrier(MPI_COMM_WORLD));
  OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
  int sum = -1;
  OK(MPI_Get(&sum, 1, MPI_INT, 0, 0, 1, MPI_INT, win));
  OK(MPI_Win_unlock(0, win));
  CHECK_EQ(sum, rounds * ranks);
  end();
}

/* Readers that see two numbers of one writer see them change together. */
static void shared_readers(void) {
  make(2);
  for (int round = 1; round <= 50; round++) {
    int pair[2] = {round, -round};
    if (rank == 0) {
      OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, ranks - 1, 0, win));
      OK(MPI_Put(&pair[0], 1, MPI_INT, ranks - 1, 0, 1, MPI_INT, win));
      OK(MPI_Put(&pair[1], 1, MPI_INT, ranks - 1, 1, 1, MPI_INT, win));
      OK(MPI_Win_unlock(ranks - 1, win));
    } else {
      OK(MPI_Win_lock(MPI_LOCK_SHARED, ranks - 1, 0, win));
      OK(MPI_Get(pair, 2, MPI_INT, ranks - 1, 0, 2, MPI_INT, win));
      OK(MPI_Win_unlock(ranks - 1, win));
      CHECK_EQ(pair[0], -pair[1]);
    }
  }
  end();
}

static void several_locks(void) {
  make(16);
  for (int target = 0; target < ranks; target++) OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
  for (int target = 0; target < ranks; target++)
    OK(MPI_Put(&rank, 1, MPI_INT, target, rank, 1, MPI_INT, win));
  OK(MPI_Win_flush_all(win));
  OK(MPI_Win_flush_local_all(win));
  for (int target = 0; target < ranks; target++) {
    OK(MPI_Win_flush_local(target, win));
    OK(MPI_Win_unlock(target, win));
  }
  OK(MPI_Barrier(MPI_COMM_WORLD));
  OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
  OK(MPI_Win_sync(win));
  for (int origin = 0; origin < ranks; origin++) CHECK_EQ(memory[origin], origin);
  OK(MPI_Win_unlock_all(win));
  end();
}

/* Waits for another rank's word by looking at it, while that rank waits for a message of this one. */
static void a_flag_and_a_message(void) {
  enum { large = 300000 };
  make(1);
  char* text = allocate(large);
  OK(MPI_Win_lock_all(0, win));
  if (rank > 0) {
    MPI_Request request;
    const int one = 1;
    OK(MPI_Irecv(text, large, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win));
    OK(MPI_Win_flush(0, win));
  } else {
    MPI_Request requests[16];
    for (int other = 1; other < ranks; other++)
      OK(MPI_Isend(text, large, MPI_CHAR, other, 0, MPI_COMM_WORLD, &requests[other - 1]));
    for (int seen = 0; seen != ranks - 1;) {
      OK(MPI_Fetch_and_op(NULL, &seen, MPI_INT, 0, 0, MPI_NO_OP, win));
      OK(MPI_Win_flush(0, win));
    }
    OK(MPI_Waitall(ranks - 1, requests, MPI_STATUSES_IGNORE));
  }
  OK(MPI_Win_unlock_all(win));
  end();
  free(text);
}

int main(int argc, char** argv) {
  begin("synchronisation of windows", &argc, &argv);
  for (of_the_program = 0; of_the_program < 2; of_the_program++) {
    fences();
    post_and_start(0);
    post_and_start(1);
    all_to_all();
    exclusive_counter();
    shared_readers();
    several_locks();
    a_flag_and_a_message();
  }
  return finish();
}
