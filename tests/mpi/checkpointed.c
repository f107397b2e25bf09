/* checkpointed STEPS MICROSECONDS EVERY FILE [FIRST]: in each step rank 0 receives from all others, whoever
 * comes first, after as many vain looks as it takes. It prints what it got and when, appends the same to
 * FILE, and says at the end what the FNV-1a of all of its output is: nobody can tell that from anything but
 * this run. Every EVERY steps, from step FIRST on, all ranks take a checkpoint. On standard error each rank
 * says how many steps its process has run. */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <llamada-checkpoint.h>
#include <time.h>

#include "digested.h"

static struct {
  int step;
  uint32_t digest;
  uint32_t random;
  double time;
} all = {0, DIGEST_BEGIN, 1, 0};
static unsigned long long table[4096];
static int appended;

#define print(...) print_digested(&all.digest, appended, __VA_ARGS__)

static int next_random(void) {
  return (int)((all.random = all.random * 1103515245u + 12345u) >> 16 & 0x7fff);
}

static void collect(void) {
  for (int i = 1; i < ranks; i++) {
    int found = 0, vain = 0, value;
    MPI_Status status;
    while (!found) {
      OK(MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &found, &status));
      vain += !found;
    }
    OK(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &status));
    const double now = MPI_Wtime();
    CHECK(now >= all.time);
    all.time = now;
    print("%d: %d from %d after %d at %f\n", all.step, value, status.MPI_SOURCE, vain, now);
  }
}

int main(int argc, char** argv) {
  begin("checkpointed", &argc, &argv);
  const int steps = argc > 1 ? atoi(argv[1]) : 10;
  const long microseconds = argc > 2 ? atol(argv[2]) : 1000;
  const int every = argc > 3 ? atoi(argv[3]) : 3;
  const int first = argc > 5 ? atoi(argv[5]) : 0;
  if (rank == 0) {
    appended = open(argc > 4 ? argv[4] : "/dev/null", O_WRONLY | O_CREAT | O_APPEND, 0666);
    CHECK(appended >= 0);
    print("begin\n");
  }
  all.random = (uint32_t)getpid();
  MPI_Comm ring;
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &ring));
  OK(LLAMADA_Checkpoint_register(&all, sizeof all));
  OK(LLAMADA_Checkpoint_register(table, sizeof table));
  int run = 0, restarts = 0;
  for (; all.step < steps; all.step++, run++) {
    if (all.step >= first && all.step % every == 0) {
      int restarted = 0;
      OK(LLAMADA_Checkpoint(MPI_COMM_WORLD, &restarted));
      restarts += restarted;
      CHECK(all.step % every == 0);
    }
    int value = 1000 * rank + next_random() % 100, least = 0;
    if (rank == 0) {
      collect();
    } else {
      const struct timespec pause = {0, (next_random() % 20) * microseconds * 100};
      nanosleep(&pause, NULL);
      OK(MPI_Send(&value, 1, MPI_INT, 0, 7, MPI_COMM_WORLD));
    }
    unsigned long long sum = 0;
    MPI_Status status;
    for (int i = 0; i < 4096; i++) table[i] += (unsigned)(value + i);
    OK(MPI_Sendrecv(&table[all.step % 4096], 1, MPI_LONG_LONG, (rank + 1) % ranks, 3, &sum, 1, MPI_LONG_LONG,
                    (rank + ranks - 1) % ranks, 3, ring, &status));
    table[(all.step + 7) % 4096] ^= sum;
    OK(MPI_Allreduce(&value, &least, 1, MPI_INT, MPI_MIN, ring));
    /* What is made between two checkpoints and freed again. */
    MPI_Comm brief;
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &brief));
    OK(MPI_Bcast(&least, 1, MPI_INT, 0, brief));
    OK(MPI_Comm_free(&brief));
  }
  unsigned long long digest = 0, sum = 0;
  for (int i = 0; i < 4096; i++) digest = digest * 31 + table[i];
  OK(MPI_Reduce(&digest, &sum, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD));
  fprintf(stderr, "rank %d: %d of %d steps, restarted %d\n", rank, run, steps, restarts);
  if (rank == 0) {
    print("sum %llu\n", sum);
    printf("digest %u\n", (unsigned)all.digest);
    fflush(stdout);
  }
  OK(MPI_Finalize());
  return 0;
}
