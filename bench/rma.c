/* One-sided communication between two ranks: what an operation with its flush costs, how much a second moves,
 * and what the synchronisations cost. For any MPI.
 *
 *   rma [ITERATIONS]
 *
 * Rank 0 prints a line for each: the kind of window, what was done, bytes, microseconds for one, and GB/s
 * from 64 KiB on. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { window_bytes = 4 << 20 };

static int rank, iterations = 10000;
static const char* kind;
static MPI_Win win;
static char *memory, *buffer, *result;

static void report(const char* what, int bytes, double seconds, int count) {
  if (rank != 0) return;
  const double each = seconds / count;
  printf("%-8s %-22s %8d bytes %10.3f us", kind, what, bytes, each * 1e6);
  if (bytes >= 65536) printf(" %8.2f GB/s", bytes / each / 1e9);
  printf("\n");
  fflush(stdout);
}

enum operation { put, get, accumulate, get_accumulate, fetch_and_op, compare_and_swap };

static void once(enum operation what, int bytes) {
  const int doubles = bytes / 8;
  switch (what) {
    case put:
      MPI_Put(buffer, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, win);
      break;
    case get:
      MPI_Get(buffer, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, win);
      break;
    case accumulate:
      MPI_Accumulate(buffer, doubles, MPI_DOUBLE, 1, 0, doubles, MPI_DOUBLE, MPI_SUM, win);
      break;
    case get_accumulate:
      MPI_Get_accumulate(buffer, doubles, MPI_DOUBLE, result, doubles, MPI_DOUBLE, 1, 0, doubles, MPI_DOUBLE,
                         MPI_SUM, win);
      break;
    case fetch_and_op:
      MPI_Fetch_and_op(buffer, result, MPI_LONG, 1, 0, MPI_SUM, win);
      break;
    case compare_and_swap:
      MPI_Compare_and_swap(buffer, buffer, result, MPI_LONG, 1, 0, win);
      break;
  }
  MPI_Win_flush(1, win);
}

/* Rank 0 works; rank 1 waits in a barrier, and so serves what needs it. */
static void measure(const char* name, enum operation what, int bytes) {
  const int count = bytes < 65536 ? iterations : iterations / 100 + 1;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
    for (int i = 0; i < count / 10 + 1; i++) once(what, bytes);
    const double start = MPI_Wtime();
    for (int i = 0; i < count; i++) once(what, bytes);
    report(name, bytes, MPI_Wtime() - start, count);
    MPI_Win_unlock(1, win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void synchronisations(void) {
  MPI_Group all, other_group;
  const int other = 1 - rank, count = iterations / 10 + 1;
  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime();
  for (int i = 0; i < count; i++) MPI_Win_fence(0, win);
  report("fence", 0, MPI_Wtime() - start, count);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 1, &other, &other_group);
  start = MPI_Wtime();
  for (int i = 0; i < count; i++) {
    MPI_Win_post(other_group, 0, win);
    MPI_Win_start(other_group, 0, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
  }
  report("post start complete wait", 0, MPI_Wtime() - start, count);
  MPI_Group_free(&all);
  MPI_Group_free(&other_group);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    start = MPI_Wtime();
    for (int i = 0; i < count; i++) {
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
      MPI_Put(buffer, 8, MPI_BYTE, 1, 0, 8, MPI_BYTE, win);
      MPI_Win_unlock(1, win);
    }
    report("lock put unlock", 8, MPI_Wtime() - start, count);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void measure_all(void) {
  const int sizes[] = {8, 1024, 65536, 1 << 20};
  memset(memory, 0, window_bytes);
  for (int i = 0; i < 4; i++) measure("put", put, sizes[i]);
  for (int i = 0; i < 4; i++) measure("get", get, sizes[i]);
  for (int i = 0; i < 4; i++) measure("accumulate", accumulate, sizes[i]);
  measure("get_accumulate", get_accumulate, 8);
  measure("fetch_and_op", fetch_and_op, 8);
  measure("compare_and_swap", compare_and_swap, 8);
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
  buffer = calloc(1, window_bytes);
  result = calloc(1, window_bytes);
  kind = "allocate";
  MPI_Win_allocate(window_bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  measure_all();
  MPI_Win_free(&win);
  kind = "create";
  memory = malloc(window_bytes);
  MPI_Win_create(memory, window_bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  measure_all();
  MPI_Win_free(&win);
  free(memory);
  free(buffer);
  free(result);
  MPI_Finalize();
  return 0;
}
