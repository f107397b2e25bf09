/* Primes below a bound: rank 0 hands out ranges of numbers, the others count the primes in theirs.
 *
 * Rank 0 counts alone as well, with a sieve, and compares. */
#include <getopt.h>

#include "../common/primes.h"
#include "../common/sample.h"

enum { tag_range = 1, tag_found, tag_stop };

typedef struct {
  int bound, ranges;
} Options;

static void work_for_master(void) {
  for (;;) {
    uint64_t range[2];
    MPI_Status status;
    MPI_Recv(range, 2, MPI_UINT64_T, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    if (status.MPI_TAG == tag_stop) return;
    PrimesFound found = primes_in(range[0], range[1]);
    uint64_t answer[2] = {found.count, found.sum};
    MPI_Send(answer, 2, MPI_UINT64_T, 0, tag_found, MPI_COMM_WORLD);
  }
}

static void give_range(Options options, int range, int worker) {
  uint64_t bounds[2] = {primes_begin_of((uint64_t)options.bound, options.ranges, range),
                        primes_begin_of((uint64_t)options.bound, options.ranges, range + 1)};
  MPI_Send(bounds, 2, MPI_UINT64_T, worker, tag_range, MPI_COMM_WORLD);
}

/* Whoever answers gets the next range. */
static PrimesFound hand_out(Options options, int ranks) {
  PrimesFound all = {0, 0};
  int next = 0;
  for (int worker = 1; worker < ranks && next < options.ranges; worker++) give_range(options, next++, worker);
  for (int answers = 0; answers < options.ranges; answers++) {
    uint64_t answer[2];
    MPI_Status status;
    MPI_Recv(answer, 2, MPI_UINT64_T, MPI_ANY_SOURCE, tag_found, MPI_COMM_WORLD, &status);
    all.count += answer[0];
    all.sum += answer[1];
    if (next < options.ranges) give_range(options, next++, status.MPI_SOURCE);
  }
  for (int worker = 1; worker < ranks; worker++)
    MPI_Send(NULL, 0, MPI_UINT64_T, worker, tag_stop, MPI_COMM_WORLD);
  return all;
}

static Options parse(int argc, char** argv) {
  Options options = {2000000, 64};
  for (int letter; (letter = getopt(argc, argv, "n:r:")) != -1;) {
    if (letter == 'n')
      options.bound = option_number(optarg, 2);
    else if (letter == 'r')
      options.ranges = option_number(optarg, 1);
    else
      give_up("usage: primes [-n bound] [-r ranges]");
  }
  return options;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Options options = parse(argc, argv);
  int rank, ranks, right = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks < 2) give_up("primes: there must be at least two ranks, a master and a worker");
  if (rank == 0) {
    PrimesFound found = hand_out(options, ranks);
    PrimesFound expected = primes_by_sieve((uint64_t)options.bound);
    right = found.count == expected.count && found.sum == expected.sum;
    printf("primes: %llu below %d, their sum is %llu\nprimes: %s\n", (unsigned long long)found.count,
           options.bound, (unsigned long long)found.sum,
           right ? "VERIFIED, a sieve finds the same" : "WRONG, a sieve finds others");
  } else {
    work_for_master();
  }
  MPI_Bcast(&right, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return right ? 0 : 1;
}
