/* One-sided communication between two ranks: what an operation costs with its flush, what each of 64 costs
 * that go to as many places and are flushed together, and the synchronisations, in memory that the window has
 * allocated and in the program's own. Figures: rma-allocate-put, rma-create-put-64, rma-create-fence …
 *
 *   rma [ITERATIONS] */
#include "bench.h"

enum { window_bytes = 4 << 20, batches = 5, together = 64, stride_bytes = 1032 };

static int rank, iterations = 2000;
static const char* kind;
static MPI_Win win;
static char *window, *buffer, *result;

static void report(const char* what, int bytes, double* seconds) {
  char figure[64];
  if (rank != 0) return;
  snprintf(figure, sizeof figure, "rma-%s-%s", kind, what);
  print_figure(figure, bytes, median(seconds, batches) * 1e6, "us");
}

enum operation { put, get, accumulate, fetch_and_op, compare_and_swap };

/* Places are so far from each other that none of up to 1 KiB reaches into the next. */
static void once(enum operation what, int bytes, int place) {
  const int doubles = bytes / 8;
  const MPI_Aint there = (MPI_Aint)place * stride_bytes;
  switch (what) {
    case put:
      MPI_Put(buffer + there, bytes, MPI_BYTE, 1, there, bytes, MPI_BYTE, win);
      break;
    case get:
      MPI_Get(buffer + there, bytes, MPI_BYTE, 1, there, bytes, MPI_BYTE, win);
      break;
    case accumulate:
      MPI_Accumulate(buffer + there, doubles, MPI_DOUBLE, 1, there, doubles, MPI_DOUBLE, MPI_SUM, win);
      break;
    case fetch_and_op:
      MPI_Fetch_and_op(buffer + there, result + there, MPI_LONG, 1, there, MPI_SUM, win);
      break;
    case compare_and_swap:
      MPI_Compare_and_swap(buffer + there, buffer, result + there, MPI_LONG, 1, there, win);
      break;
  }
}

static void repeat(enum operation what, int bytes, int flushed, int count) {
  for (int i = 0; i < count; i++) {
    once(what, bytes, i % flushed);
    if (i % flushed == flushed - 1) MPI_Win_flush(1, win);
  }
}

/* Rank 0 works; rank 1 waits in a barrier, and so serves what needs it. `flushed`: how many at a time. */
static void measure(const char* name, enum operation what, int bytes, int flushed) {
  const int wanted = bytes < 65536 ? iterations : iterations / 50 + 1;
  const int count = (wanted + flushed - 1) / flushed * flushed;
  double seconds[batches];
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
    repeat(what, bytes, flushed, flushed > 1 ? count : count / 10 + 1);
    for (int batch = 0; batch < batches; batch++) {
      const double start = MPI_Wtime();
      repeat(what, bytes, flushed, count);
      seconds[batch] = (MPI_Wtime() - start) / count;
    }
    MPI_Win_unlock(1, win);
    report(name, bytes, seconds);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void fence(void) { MPI_Win_fence(0, win); }

static MPI_Group partner;

static void post_and_start(void) {
  MPI_Win_post(partner, 0, win);
  MPI_Win_start(partner, 0, win);
  MPI_Win_complete(win);
  MPI_Win_wait(win);
}

static void lock_put_unlock(void) {
  if (rank != 0) return;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
  MPI_Put(buffer, 8, MPI_BYTE, 1, 0, 8, MPI_BYTE, win);
  MPI_Win_unlock(1, win);
}

static void synchronise(const char* name, void (*call)(void)) {
  const int count = iterations / 10 + 1;
  double seconds[batches];
  MPI_Barrier(MPI_COMM_WORLD);
  for (int batch = 0; batch < batches; batch++) {
    const double start = MPI_Wtime();
    for (int i = 0; i < count; i++) call();
    seconds[batch] = (MPI_Wtime() - start) / count;
  }
  report(name, 0, seconds);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void synchronisations(void) {
  MPI_Group all;
  const int other = 1 - rank;
  synchronise("fence", fence);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 1, &other, &partner);
  synchronise("post-start", post_and_start);
  MPI_Group_free(&all);
  MPI_Group_free(&partner);
  synchronise("lock-put-unlock", lock_put_unlock);
}

static void measure_all(void) {
  const int sizes[] = {8, 1024, 65536, 1 << 20};
  memset(window, 0, window_bytes);
  for (int i = 0; i < 4; i++) measure("put", put, sizes[i], 1);
  for (int i = 0; i < 4; i++) measure("get", get, sizes[i], 1);
  for (int i = 0; i < 4; i++) measure("accumulate", accumulate, sizes[i], 1);
  measure("fetch_and_op", fetch_and_op, 8, 1);
  measure("compare_and_swap", compare_and_swap, 8, 1);
  measure("put-64", put, 8, together);
  measure("get-64", get, 8, together);
  measure("accumulate-64", accumulate, 8, together);
  measure("fetch_and_op-64", fetch_and_op, 8, together);
  measure("compare_and_swap-64", compare_and_swap, 8, together);
  synchronisations();
}

int main(int argc, char** argv) {
  int ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc > 1) iterations = atoi(argv[1]);
  if (ranks != 2 || iterations < 1) {
    if (rank == 0) fprintf(stderr, "usage: rma [ITERATIONS], on 2 ranks\n");
    MPI_Finalize();
    return 2;
  }
  pin_rank(rank);
  buffer = memory(window_bytes);
  result = memory(window_bytes);
  memset(buffer, 0, window_bytes);
  kind = "allocate";
  MPI_Win_allocate(window_bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
  measure_all();
  MPI_Win_free(&win);
  kind = "create";
  window = memory(window_bytes);
  MPI_Win_create(window, window_bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  measure_all();
  MPI_Win_free(&win);
  free(window);
  free(buffer);
  free(result);
  MPI_Finalize();
  return 0;
}
