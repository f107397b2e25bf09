/* input_pieces WAY: rank 0 takes standard input piece by piece as it comes, and gives each piece to all. WAY
 * says how it learns that there is some: read, poll, select, count (FIONREAD), nonblocking, or lines by
 * fgets() between bytes by read(). Rank 1 says how many bytes and pieces there were, for a run with kills. */
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <unistd.h>

static char piece[4096];

static int is_ready(const char* way) {
  if (strcmp(way, "poll") == 0) {
    struct pollfd in = {0, POLLIN, 0};
    return poll(&in, 1, 20) > 0;
  }
  if (strcmp(way, "select") == 0) {
    fd_set in;
    struct timeval limit = {0, 20000};
    FD_ZERO(&in);
    FD_SET(0, &in);
    return select(1, &in, NULL, NULL, &limit) > 0;
  }
  if (strcmp(way, "count") == 0) {
    int count = 0;
    static int looks;
    if (ioctl(0, FIONREAD, &count) != 0) return 1;
    usleep(5000);
    return count > 0 || ++looks > 400; /* then its end */
  }
  return 1;
}

static int take(const char* way) {
  if (!is_ready(way)) return -1;
  if (strcmp(way, "lines") == 0) {
    if (!fgets(piece, sizeof piece, stdin)) return 0;
    return (int)strlen(piece);
  }
  int count = (int)read(0, piece, sizeof piece);
  if (count < 0) {
    if (errno != EAGAIN) MPI_Abort(MPI_COMM_WORLD, 99);
    usleep(5000);
  }
  return count;
}

int main(int argc, char** argv) {
  int rank, count, all = 0, before = 0;
  const char* way = argc > 1 ? argv[1] : "read";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0 && strcmp(way, "nonblocking") == 0) fcntl(0, F_SETFL, fcntl(0, F_GETFL) | O_NONBLOCK);
  do {
    count = rank == 0 ? take(way) : 0;
    MPI_Bcast(&count, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (count > 0) MPI_Bcast(piece, count, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++)
      if (piece[i] == '\n' && ++before < 0) return 1;
    if (count > 0) all += count;
  } while (count != 0);
  if (rank == 1) printf("%d bytes, %d lines\n", all, before);
  MPI_Finalize();
  return 0;
}
