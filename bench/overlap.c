/* How much of the time of a nonblocking exchange passes behind a computation of the same length, in per cent,
 * by size. */
#include "bench.h"

enum { batches = 9 };

static volatile double sink;

static void turn(double turns) {
  double value = 1;
  for (long i = 0; i < (long)turns; i++) value = value * 1.0000001 + 1e-9;
  sink = value;
}

/* A clock that is asked all the time would be what is measured. */
static double turns_per_second(void) {
  double rates[batches], turns = 2e5;
  turn(turns);
  for (int b = 0; b < batches; b++) {
    double start = MPI_Wtime();
    turn(turns);
    rates[b] = turns / (MPI_Wtime() - start);
  }
  return median(rates, batches);
}

static double exchange(int rank, char* in, char* out, int size, int rounds, double turns) {
  MPI_Request requests[2];
  MPI_Sendrecv(NULL, 0, MPI_BYTE, 1 - rank, 1, NULL, 0, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  double start = MPI_Wtime();
  for (int i = 0; i < rounds; i++) {
    MPI_Irecv(in, size, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, size, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
    turn(turns);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  return (MPI_Wtime() - start) / rounds;
}

static double median_of(int rank, char* in, char* out, int size, int rounds, double turns) {
  double seconds[batches];
  exchange(rank, in, out, size, rounds, turns);
  for (int b = 0; b < batches; b++) seconds[b] = exchange(rank, in, out, size, rounds, turns);
  return median(seconds, batches);
}

int main(int argc, char** argv) {
  static const int sizes[] = {8192, 65536, 1 << 20};
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank < 2) {
    pin_rank(rank);
    char *in = memory(1 << 20), *out = memory(1 << 20);
    double speed = turns_per_second();
    for (int i = 0; i < 3; i++) {
      int rounds = sizes[i] <= 65536 ? 50 : 4;
      double alone = median_of(rank, in, out, sizes[i], rounds, 0);
      double both = median_of(rank, in, out, sizes[i], rounds, alone * speed);
      double hidden = (2 * alone - both) / alone * 100;
      if (rank == 0) print_figure("overlap", sizes[i], hidden < 0 ? 0 : hidden > 100 ? 100 : hidden, "%");
    }
  }
  MPI_Finalize();
  return 0;
}
