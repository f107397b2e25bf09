/* A signal handler may ask for the time whatever its thread is doing: here timers interrupt it all the time,
   in MPI, in libc's functions that are recorded for a replacement, and in between. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile long ticks, asked;

static void on_alarm(int number) {
  struct timespec now;
  (void)number;
  clock_gettime(CLOCK_MONOTONIC, &now);
  asked = now.tv_nsec + time(NULL) + getpid();
  ++ticks;
}

int main(int argc, char** argv) {
  struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
  const struct itimerval interval = {{0, 300}, {0, 300}}, none = {{0, 0}, {0, 0}};
  int rank, size;
  double value, sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &interval, NULL);
  for (long step = 0, least = 0; step < 300 || least < 100; ++step) {
    struct timespec now;
    const long mine = ticks;
    for (int i = 0; i < 50; ++i) clock_gettime(CLOCK_REALTIME, &now);
    value = (rank + 1) + 0 * MPI_Wtime();
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&mine, &least, 1, MPI_LONG, MPI_MIN, MPI_COMM_WORLD); /* all leave after the same step */
  }
  setitimer(ITIMER_REAL, &none, NULL);
  if (rank == 0 && sum == size * (size + 1) / 2) puts("No errors");
  MPI_Finalize();
  return sum == size * (size + 1) / 2 ? 0 : 1;
}
