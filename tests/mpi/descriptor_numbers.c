/* A program may use any number for its descriptors, and close all that it has not opened: the library's own
 * make room, and stay open. Rank 1 does so with each number up to 400 and goes on talking to the others. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { numbers_end = 400, bytes = 1 << 20 };

static int rank, ranks, failures;
#define CHECK(condition) \
  ((condition) ? (void)0 : (void)(failures++, printf("rank %d: line %d: %s\n", rank, __LINE__, #condition)))

/* Messages that need the driver, each other's memory, and somebody who wakes a rank that sleeps. */
static void talk(void) {
  static char data[bytes];
  int sum = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sum == ranks * (ranks - 1) / 2);
  memset(data, rank, sizeof data);
  MPI_Sendrecv_replace(data, bytes, MPI_CHAR, (rank + 1) % ranks, 0, (rank + ranks - 1) % ranks, 0,
                       MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(data[0] == (rank + ranks - 1) % ranks && data[bytes - 1] == data[0]);
  if (rank == 1) usleep(20000);
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  talk();
  if (rank == 1) {
    for (int number = 3; number < numbers_end; ++number) close(number);
    errno = 0;
    CHECK(close(199) == -1 && errno == EBADF);
  }
  talk();
  if (rank == 1) CHECK(close_range(3, ~0U, 0) == 0 && close_range(3, 2, 0) == -1);
  talk();
  if (rank == 1) closefrom(3);
  talk();
  const int file = open("/dev/zero", O_RDONLY);
  char zero = 1;
  for (int number = 100; number < numbers_end && rank == 1; ++number) {
    CHECK((number % 2 ? dup2(file, number) : dup3(file, number, O_CLOEXEC)) == number);
    CHECK(read(number, &zero, 1) == 1 && zero == 0);
  }
  talk();
  for (int number = 100; number < numbers_end && rank == 1; ++number) CHECK(close(number) == 0);
  /* What is not open stays so, and a copy onto itself is none. */
  CHECK(dup2(file, file) == file && dup3(file, file, 0) == -1 && dup2(199, file) == -1);
  CHECK(read(file, &zero, 1) == 1);
  talk();
  int all = 0;
  MPI_Reduce(&failures, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0 && all == 0) printf("ok descriptor_numbers\n");
  MPI_Finalize();
  return all != 0;
}
