/* Point-to-point communication of several threads at once (MPI 3.1, 12.4; 3.8.2 for matched probes). */
#include "threads.h"

static const int sizes[] = {0, 1, 13, 200, 5000, 40000};
enum { SIZES = sizeof sizes / sizeof sizes[0], LONGEST = 40000 };

static int next(void) { return (rank + 1) % ranks; }
static int before(void) { return (rank + ranks - 1) % ranks; }

static void main_thread(int thread) {
  int flag = -1, level = -1;
  OK(MPI_Is_thread_main(&flag));
  CHECK_EQ(flag, thread == 0);
  OK(MPI_Query_thread(&level));
  CHECK_EQ(level, MPI_THREAD_MULTIPLE);
}

/* Each thread talks with the thread of the same number at its neighbours, by a tag of its own. */
static void ring(int thread) {
  int* in = allocate(sizeof(int) * LONGEST);
  int* out = allocate(sizeof(int) * LONGEST);
  for (int round = 0; round < 12; round++) {
    int count = sizes[round % SIZES];
    MPI_Status status;
    MPI_Request request;
    fill(out, count, rank * 100 + thread, round);
    OK(MPI_Irecv(in, count, MPI_INT, before(), thread, MPI_COMM_WORLD, &request));
    if (round % 3 == 2)
      OK(MPI_Ssend(out, count, MPI_INT, next(), thread, MPI_COMM_WORLD));
    else
      OK(MPI_Send(out, count, MPI_INT, next(), thread, MPI_COMM_WORLD));
    OK(MPI_Wait(&request, &status));
    CHECK(status_is(&status, before(), thread, MPI_INT, count));
    CHECK(filled(in, count, before() * 100 + thread, round));
  }
  free(in);
  free(out);
}

enum { PER_THREAD = 40 };
static long wildcard_sum, wildcard_count;
static pthread_mutex_t sum_lock = PTHREAD_MUTEX_INITIALIZER;

/* All threads of all ranks send to rank 0, whose threads take what comes. */
static void wildcard(int thread) {
  for (int i = 0; i < PER_THREAD; i++) {
    int value = rank * 10000 + thread * 1000 + i, got[2];
    MPI_Request request;
    MPI_Status status;
    if (rank != 0) {
      OK(MPI_Send(&value, 1, MPI_INT, 0, 7, MPI_COMM_WORLD));
      continue;
    }
    OK(MPI_Isend(&value, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &request));
    for (int sender = 0; sender < ranks; sender++) {
      OK(MPI_Recv(got, 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
      CHECK(status_is(&status, got[0] / 10000, 7, MPI_INT, 1));
      pthread_mutex_lock(&sum_lock);
      wildcard_sum += got[0];
      wildcard_count++;
      pthread_mutex_unlock(&sum_lock);
    }
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  }
}

static void check_wildcard(void) {
  long sum = 0;
  if (rank != 0) return;
  for (int r = 0; r < ranks; r++)
    for (int t = 0; t < THREADS; t++)
      for (int i = 0; i < PER_THREAD; i++) sum += r * 10000 + t * 1000 + i;
  CHECK_EQ(wildcard_count, (long)ranks * THREADS * PER_THREAD);
  CHECK_EQ(wildcard_sum, sum);
}

/* Many requests at once, completed in each of the ways. */
static void storm(int thread) {
  enum { WINDOW = 20 };
  for (int round = 0; round < 8; round++) {
    int in[WINDOW], out[WINDOW], done = 0, index, flag, list[2 * WINDOW], count;
    MPI_Request requests[2 * WINDOW];
    for (int i = 0; i < WINDOW; i++) {
      out[i] = (int)pattern(rank, thread, round * WINDOW + i);
      in[i] = 0;
      OK(MPI_Irecv(&in[i], 1, MPI_INT, before(), thread, MPI_COMM_WORLD, &requests[i]));
      OK(MPI_Isend(&out[i], 1, MPI_INT, next(), thread, MPI_COMM_WORLD, &requests[WINDOW + i]));
    }
    switch (round % 4) {
      case 0:
        OK(MPI_Waitall(2 * WINDOW, requests, MPI_STATUSES_IGNORE));
        break;
      case 1:
        for (; done < 2 * WINDOW; done++) {
          OK(MPI_Waitany(2 * WINDOW, requests, &index, MPI_STATUS_IGNORE));
          CHECK(index >= 0 && index < 2 * WINDOW && requests[index] == MPI_REQUEST_NULL);
        }
        break;
      case 2:
        for (; done < 2 * WINDOW; done += count) {
          OK(MPI_Waitsome(2 * WINDOW, requests, &count, list, MPI_STATUSES_IGNORE));
          CHECK(count > 0);
          for (int i = 0; i < count; i++) CHECK(requests[list[i]] == MPI_REQUEST_NULL);
        }
        break;
      default:
        do OK(MPI_Testall(2 * WINDOW, requests, &flag, MPI_STATUSES_IGNORE));
        while (!flag);
    }
    for (int i = 0; i < WINDOW; i++) CHECK_EQ(in[i], (int)pattern(before(), thread, round * WINDOW + i));
  }
}

/* Threads probe for the same messages, of different lengths: whom a matched probe gives one receives it. */
static void matched(int thread) {
  enum { MESSAGES = 20 };
  int* values = allocate(sizeof(int) * 400);
  for (int i = 0; i < MESSAGES; i++) {
    int count = 1 + (int)(pattern(rank, thread, i) % 399);
    MPI_Request request;
    MPI_Message message;
    MPI_Status status;
    int* out = allocate(sizeof(int) * 400);
    fill(out, count, 5, count);
    OK(MPI_Isend(out, count, MPI_INT, next(), 11, MPI_COMM_WORLD, &request));
    if (i % 2) {
      OK(MPI_Mprobe(MPI_ANY_SOURCE, 11, MPI_COMM_WORLD, &message, &status));
    } else {
      int flag = 0;
      while (!flag) OK(MPI_Improbe(before(), 11, MPI_COMM_WORLD, &flag, &message, &status));
    }
    OK(MPI_Get_count(&status, MPI_INT, &count));
    OK(MPI_Mrecv(values, count, MPI_INT, &message, &status));
    CHECK(status_is(&status, before(), 11, MPI_INT, count));
    CHECK(filled(values, count, 5, count));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    free(out);
  }
  free(values);
}

/* Thread 0 waits for what only another thread of its process sends, after it has talked with other ranks. */
static void inner(int thread) {
  int value = 0, token = thread;
  for (int round = 0; round < 20; round++) {
    if (thread == 0) {
      OK(MPI_Recv(&value, 1, MPI_INT, 0, 21, MPI_COMM_SELF, MPI_STATUS_IGNORE));
      CHECK_EQ(value, round);
    } else if (thread == 1) {
      OK(MPI_Sendrecv_replace(&token, 1, MPI_INT, next(), 22, before(), 22, MPI_COMM_WORLD,
                              MPI_STATUS_IGNORE));
      OK(MPI_Ssend(&round, 1, MPI_INT, 0, 21, MPI_COMM_SELF));
    }
  }
}

/* A thread that cancels ends the wait of the one that waits for the receive. */
static MPI_Request cancelled_request;
static int cancelled_set;
static void cancel(int thread) {
  static int never;
  if (thread == 0) {
    MPI_Status status;
    int flag = 0;
    OK(MPI_Irecv(&never, 1, MPI_INT, 0, 31, MPI_COMM_SELF, &cancelled_request));
    __atomic_store_n(&cancelled_set, 1, __ATOMIC_RELEASE);
    MPI_Request mine = cancelled_request;
    OK(MPI_Wait(&mine, &status));
    OK(MPI_Test_cancelled(&status, &flag));
    CHECK(flag);
  } else if (thread == 1) {
    while (!__atomic_load_n(&cancelled_set, __ATOMIC_ACQUIRE)) sched_yield();
    MPI_Request theirs = cancelled_request;
    OK(MPI_Cancel(&theirs));
  }
}

int main(int argc, char** argv) {
  begin_threads("threads_p2p", &argc, &argv);
  in_threads(THREADS, main_thread);
  in_threads(THREADS, ring);
  MPI_Barrier(MPI_COMM_WORLD);
  in_threads(THREADS, wildcard);
  check_wildcard();
  MPI_Barrier(MPI_COMM_WORLD);
  in_threads(THREADS, storm);
  in_threads(THREADS, matched);
  in_threads(2, inner);
  in_threads(2, cancel);
  return finish();
}
