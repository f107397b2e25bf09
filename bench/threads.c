/* How many messages of 8 bytes two ranks exchange in a second when 1, 2 and 4 threads of each do so at once,
 * each pair of threads with a tag of its own (MPI_THREAD_MULTIPLE): windows of nonblocking sends from rank 0,
 * receives in rank 1, and an answer to each window. X is the number of threads. Argument: windows of each
 * thread and batch (default 200). */
#include "bench.h"

#include <pthread.h>

enum { THREADS_MAX = 4, WINDOW = 64, BATCHES = 7 };

static int rank, windows = 200;
static pthread_barrier_t gate;

static void exchange(int thread) {
  MPI_Request requests[WINDOW];
  long values[WINDOW], answer = 0;
  memset(values, 0, sizeof values);
  for (int window = 0; window < windows; window++) {
    for (int i = 0; i < WINDOW; i++) {
      if (rank == 0)
        MPI_Isend(&values[i], 1, MPI_LONG, 1, thread, MPI_COMM_WORLD, &requests[i]);
      else
        MPI_Irecv(&values[i], 1, MPI_LONG, 0, thread, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
    if (rank == 0)
      MPI_Recv(&answer, 1, MPI_LONG, 1, THREADS_MAX + thread, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
      MPI_Send(&answer, 1, MPI_LONG, 0, THREADS_MAX + thread, MPI_COMM_WORLD);
  }
}

static void* run(void* thread) {
  for (int batch = 0; batch < BATCHES; batch++) {
    pthread_barrier_wait(&gate);
    exchange((int)(size_t)thread);
    pthread_barrier_wait(&gate);
  }
  return NULL;
}

static double rate(int count) {
  pthread_t threads[THREADS_MAX];
  double seconds[BATCHES];
  pthread_barrier_init(&gate, NULL, (unsigned)count);
  for (int i = 1; i < count; i++)
    if (pthread_create(&threads[i], NULL, run, (void*)(size_t)i) != 0) exit(1);
  for (int batch = 0; batch < BATCHES; batch++) {
    MPI_Barrier(MPI_COMM_WORLD);
    pthread_barrier_wait(&gate);
    seconds[batch] = MPI_Wtime();
    exchange(0);
    pthread_barrier_wait(&gate);
    seconds[batch] = MPI_Wtime() - seconds[batch];
  }
  for (int i = 1; i < count; i++) pthread_join(threads[i], NULL);
  pthread_barrier_destroy(&gate);
  return (double)count * windows * WINDOW / median(seconds, BATCHES) / 1e6;
}

int main(int argc, char** argv) {
  int provided = 0, ranks = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc > 1) windows = atoi(argv[1]);
  if (provided != MPI_THREAD_MULTIPLE || ranks != 2) {
    if (rank == 0) fprintf(stderr, "threads: needs MPI_THREAD_MULTIPLE and two ranks\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  pin_rank(rank);
  for (int count = 1; count <= THREADS_MAX; count *= 2) {
    double value = rate(count);
    if (rank == 0) print_figure("threads_rate", count, value, "M/s");
  }
  MPI_Finalize();
  return 0;
}
