/* Ends in the way that its argument says; for launcher.sh. Rank 1, or the last, does it; the others wait for
 * it. */
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile sig_atomic_t told;
static void on_signal(int number) { told = number; }

static void echo_stdin(int rank) {
  char line[200];
  int lines = 0;
  while (fgets(line, sizeof line, stdin)) lines++;
  printf("rank %d read %d lines\n", rank, lines);
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "return";
  int rank, ranks;
  signal(SIGUSR1, on_signal);
  if (strcmp(how, "exit-before-init") == 0) return 5;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int chosen = rank == (ranks > 1 ? 1 : 0);
  if (strcmp(how, "stdin") == 0) {
    echo_stdin(rank);
  } else if (strcmp(how, "signal") == 0) {
    if (rank == 0) {
      printf("ready\n");
      fflush(stdout);
    }
    while (!told) usleep(1000);
    printf("rank %d was told\n", rank);
  } else if (strcmp(how, "sleep") == 0) {
    printf("asleep\n");
    fflush(stdout);
    sleep(600);
  } else if (chosen) {
    if (strcmp(how, "close-all") == 0) {
      syscall(SYS_close_range, 3, ~0U, 0); /* Past libmpi, which would keep its own. */
      MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (strcmp(how, "exit") == 0) exit(atoi(argv[2]));
    if (strcmp(how, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, atoi(argv[2]));
    if (strcmp(how, "raise") == 0) {
      signal(atoi(argv[2]), SIG_DFL);
      raise(atoi(argv[2]));
    }
  } else if (strcmp(how, "return") != 0) {
    MPI_Recv(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return strcmp(how, "return") == 0 && chosen && argc > 2 ? atoi(argv[2]) : 0;
}
