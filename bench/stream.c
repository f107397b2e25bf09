/* From rank 0 to rank 1, a window of messages under way at a time:
 *   stream rate       small ones: millions of messages a second
 *   stream bandwidth  large ones: GB/s
 *   stream changed    the same, one MPI_Send after the other, each of other content
 *   stream anew       the same, nothing of which is left */
#include "bench.h"

enum { window_max = 64, batches = 11 };

static change_function* changes;

static double batch(int rank, char* buffer, int size, int window, int windows) {
  MPI_Request requests[window_max];
  double start = MPI_Wtime();
  for (int w = 0; w < windows; w++) {
    for (int i = 0; i < window; i++)
      if (rank == 0 && changes) {
        changes(buffer, (size_t)size);
        MPI_Send(buffer, size, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        requests[i] = MPI_REQUEST_NULL;
      } else if (rank == 0)
        MPI_Isend(buffer, size, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &requests[i]);
      else
        MPI_Irecv(buffer, size, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(window, requests, MPI_STATUSES_IGNORE);
  }
  if (rank == 0)
    MPI_Recv(NULL, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  else
    MPI_Send(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
  return MPI_Wtime() - start;
}

/* So many `units` a second, of which each message is `worth` some. */
static void measure(const char* figure, int rank, char* buffer, int size, int window, int windows,
                    double worth, const char* units) {
  struct series rates;
  batch(rank, buffer, size, window, windows);
  series_begin(&rates, batches, meeting, meeting_side);
  while (series_has_next(&rates))
    series_add(&rates, (double)window * windows * worth / batch(rank, buffer, size, window, windows));
  if (rank == 0) series_print(&rates, figure, size, units);
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank < 2) {
    pin_rank(rank);
    share_meeting(rank);
    char* buffer = memory(4 << 20);
    if (argc > 1 && strcmp(argv[1], "rate") == 0) {
      static const int sizes[] = {0, 8, 64, 256, 1024};
      for (int i = 0; i < 5; i++)
        measure("rate", rank, buffer, sizes[i], 64, sizes[i] <= 8 ? 500 : 150, 1e-6, "M/s");
    } else {
      changes = change_named(argc > 1 ? argv[1] : "bandwidth");
      static const int sizes[] = {4096, 16384, 65536, 262144, 1 << 20, 4 << 20};
      for (int i = changes == renew ? 2 : 0; i < 6; i++) {
        int window = sizes[i] <= 65536 ? 64 : sizes[i] <= 262144 ? 32 : sizes[i] <= 1 << 20 ? 16 : 4;
        const char* figure = changes == renew ? "anew_stream" : changes ? "changed_stream" : "bandwidth";
        measure(figure, rank, buffer, sizes[i], window, sizes[i] <= 16384 ? 8 : 1, sizes[i] * 1e-9, "GB/s");
      }
    }
    free(buffer);
  }
  MPI_Finalize();
  return 0;
}
