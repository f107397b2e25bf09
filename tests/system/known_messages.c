/* known_messages GO END: three ranks whose messages rank_spy_test.cpp knows. They are sent once the file GO
 * is there; the ranks end once END is. known_messages rate COUNT: two ranks send a message of 8 bytes to and
 * fro; prints how many seconds that takes. known_messages worlds GO END: two ranks spawn two others, which
 * send to each other and to the first two. known_messages stays END: rank 1 waits in MPI_Recv until END is
 * there. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { large_bytes = 300000, series_count = 20 };

static void await_file(const char* name, int rank) {
  int is_there = 0;
  while (!is_there) {
    is_there = rank == 0 && access(name, F_OK) == 0;
    MPI_Bcast(&is_there, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (!is_there) usleep(10000);
  }
}

static void send_all(MPI_Comm other, char* large) {
  char bytes[100];
  double real = 0.5;
  MPI_Send("hello", 5, MPI_CHAR, 1, 7, MPI_COMM_WORLD);
  for (int i = 0; i < 100; ++i) bytes[i] = (char)i;
  MPI_Send(bytes, 100, MPI_CHAR, 2, 9, MPI_COMM_WORLD);
  MPI_Send(&real, 1, MPI_DOUBLE, 1, 3, other);
  MPI_Ssend("syn", 3, MPI_CHAR, 2, 11, MPI_COMM_WORLD);
  memset(large, 'L', large_bytes);
  MPI_Send(large, large_bytes, MPI_CHAR, 1, 13, MPI_COMM_WORLD);
  /* Nearly the same: where histories are kept the log has only what differs. */
  large[1] = 'x';
  large[200000] = 'y';
  MPI_Send(large, large_bytes, MPI_CHAR, 1, 14, MPI_COMM_WORLD);
  for (int i = 0; i < series_count; ++i) MPI_Send(&i, 1, MPI_INT, 1, 100, MPI_COMM_WORLD);
}

static void take(int count, int source, int tag, MPI_Comm comm, char* into) {
  MPI_Recv(into, count, MPI_CHAR, source, tag, comm, MPI_STATUS_IGNORE);
}

static void exchange(int rank, MPI_Comm other) {
  static char large[large_bytes];
  int answer = 4242;
  if (rank == 0) send_all(other, large);
  if (rank == 1) {
    take(5, 0, 7, MPI_COMM_WORLD, large);
    take(8, 0, 3, other, large);
    take(large_bytes, 0, 13, MPI_COMM_WORLD, large);
    take(large_bytes, 0, 14, MPI_COMM_WORLD, large);
    for (int i = 0; i < series_count; ++i) take(4, 0, 100, MPI_COMM_WORLD, large);
    MPI_Send(&answer, 1, MPI_INT, 2, 21, MPI_COMM_WORLD);
  }
  if (rank == 2) {
    take(100, 0, 9, MPI_COMM_WORLD, large);
    take(3, 0, 11, MPI_COMM_WORLD, large);
    take(4, 1, 21, MPI_COMM_WORLD, large);
  }
}

/* Messages within the spawned world, and between the two: ranks 2 and 3 of the job are spawned. */
static void exchange_worlds(int rank, MPI_Comm parent, MPI_Comm children) {
  char value[4] = "abc";
  if (parent != MPI_COMM_NULL) {
    if (rank == 0) MPI_Send("up", 2, MPI_CHAR, 0, 31, parent);
    if (rank == 0) take(4, 1, 32, MPI_COMM_WORLD, value);
    if (rank == 1) MPI_Send("side", 4, MPI_CHAR, 0, 32, MPI_COMM_WORLD);
    if (rank == 1) take(4, 1, 33, parent, value);
  } else {
    if (rank == 0) take(4, 0, 31, children, value);
    if (rank == 1) MPI_Send("down", 4, MPI_CHAR, 1, 33, children);
  }
}

static void run_worlds(int rank, char** argv) {
  MPI_Comm parent, children = MPI_COMM_NULL;
  char* arguments[] = {argv[1], argv[2], argv[3], NULL};
  MPI_Comm_get_parent(&parent);
  if (parent == MPI_COMM_NULL)
    MPI_Comm_spawn(argv[0], arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
  await_file(argv[2], rank);
  exchange_worlds(rank, parent, children);
  await_file(argv[3], rank);
}

static void stay(int rank, const char* end) {
  char value;
  while (rank == 0 && access(end, F_OK) != 0) usleep(10000);
  if (rank == 0) MPI_Send("x", 1, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
  if (rank == 1) take(1, 0, 1, MPI_COMM_WORLD, &value);
}

static void measure(int rank, int count) {
  double value = 1;
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (int i = 0; i < count; ++i) {
    if (rank == 0) MPI_Send(&value, 1, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
    if (rank < 2) MPI_Recv(&value, 1, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(&value, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
  }
  if (rank == 0) printf("%.6f\n", MPI_Wtime() - start);
}

int main(int argc, char** argv) {
  int rank = 0;
  MPI_Comm other;
  MPI_Init(&argc, &argv);
  if (argc < 3) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (strcmp(argv[1], "rate") == 0) {
    measure(rank, atoi(argv[2]));
  } else if (strcmp(argv[1], "worlds") == 0) {
    run_worlds(rank, argv);
  } else if (strcmp(argv[1], "stays") == 0) {
    stay(rank, argv[2]);
  } else {
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    await_file(argv[1], rank);
    exchange(rank, other);
    if (rank == 0) {
      puts("sent");
      fflush(stdout);
    }
    await_file(argv[2], rank);
    MPI_Comm_free(&other);
  }
  MPI_Finalize();
  return 0;
}
