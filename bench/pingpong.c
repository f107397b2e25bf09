/* Half a round trip between ranks 0 and 1, by size, in microseconds; "anysource" receives from
 * MPI_ANY_SOURCE. "pingpong changed", "pingpong anew": a little, or all, of what is sent changes from message
 * to message. */
#include "bench.h"

enum { batches = 15 };

static change_function* changes;

static double batch(char* buffer, int size, int rounds, int rank, int source) {
  double start = MPI_Wtime();
  for (int i = 0; i < rounds; i++) {
    if (rank == 0) {
      if (changes) changes(buffer, (size_t)size);
      MPI_Send(buffer, size, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
      MPI_Recv(buffer, size, MPI_BYTE, source, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(buffer, size, MPI_BYTE, source, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (changes) changes(buffer, (size_t)size);
      MPI_Send(buffer, size, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
  }
  return MPI_Wtime() - start;
}

/* The fault-tolerant profile keeps all that is sent: so many rounds that it has room for. */
static int rounds_for(int size) {
  if (size <= 4096) return 1000;
  return size <= 65536 ? 100 : size <= 1 << 20 ? 8 : size <= 4 << 20 ? 2 : 1;
}

static void measure(const char* figure, char* buffer, int size, int rank, int source) {
  struct series halves;
  int rounds = rounds_for(size), count = size <= 4 << 20 ? batches : 5;
  batch(buffer, size, rounds, rank, source);
  series_begin(&halves, count, meeting, meeting_side);
  while (series_has_next(&halves))
    series_add(&halves, batch(buffer, size, rounds, rank, source) / rounds / 2 * 1e6);
  if (rank == 0) series_print(&halves, figure, size, "us");
}

int main(int argc, char** argv) {
  static const int sizes[] = {0,    8,     64,    256,    1024,    2048,    4096,
                              8192, 16384, 65536, 262144, 1 << 20, 4 << 20, 16 << 20};
  static const int small[] = {0, 8, 1024};
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank < 2) {
    pin_rank(rank);
    share_meeting(rank);
    char* buffer = memory(16 << 20);
    const char* figure = argc > 1 ? argv[1] : "pingpong";
    changes = change_named(figure);
    const int size_min = changes == renew ? 65536 : changes ? 1024 : 0;
    for (int i = 0; i < (int)(sizeof sizes / sizeof *sizes); i++)
      if (sizes[i] >= size_min) measure(figure, buffer, sizes[i], rank, 1 - rank);
    for (int i = 0; i < 3 && !changes; i++) measure("anysource", buffer, small[i], rank, MPI_ANY_SOURCE);
    free(buffer);
  }
  MPI_Finalize();
  return 0;
}
