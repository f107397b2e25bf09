/* resumed STEPS MICROSECONDS FILE: in each step rank 0 receives from all others, whoever comes first, after
 * as many vain looks as it takes. It prints what it got and when, appends the same to FILE, and says at the
 * end what the FNV-1a of all of its output is: nobody can tell that from anything but this run. */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <time.h>

#include "digested.h"

static uint32_t digest = DIGEST_BEGIN;
static int appended;

#define print(...) print_digested(&digest, appended, __VA_ARGS__)

static void collect(int step) {
  for (int i = 1; i < ranks; i++) {
    int found = 0, vain = 0, value;
    MPI_Status status;
    while (!found) {
      OK(MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &found, &status));
      vain += !found;
    }
    OK(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &status));
    print("%d: %d from %d after %d at %f\n", step, value, status.MPI_SOURCE, vain, MPI_Wtime());
  }
}

int main(int argc, char** argv) {
  begin("resumed", &argc, &argv);
  const int steps = argc > 1 ? atoi(argv[1]) : 10;
  const long microseconds = argc > 2 ? atol(argv[2]) : 1000;
  if (rank == 0) {
    appended = open(argc > 3 ? argv[3] : "/dev/null", O_WRONLY | O_CREAT | O_APPEND, 0666);
    CHECK(appended >= 0);
  }
  srand((unsigned)getpid());
  for (int step = 0; step < steps; step++) {
    int value = 1000 * rank + rand() % 100, least = 0;
    if (rank == 0) {
      collect(step);
    } else {
      const struct timespec pause = {0, (rand() % 20) * microseconds * 100};
      nanosleep(&pause, NULL);
      OK(MPI_Send(&value, 1, MPI_INT, 0, 7, MPI_COMM_WORLD));
    }
    OK(MPI_Allreduce(&value, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
  }
  if (rank == 0) {
    printf("digest %u\n", (unsigned)digest);
    fflush(stdout);
  }
  OK(MPI_Finalize());
  return 0;
}
