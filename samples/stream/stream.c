/* A stream of blocks: rank 0 sends one after the other to the workers in turn, each sends back STREAM's triad
 * of it.
 *
 * Rank 0 checks every number that comes back, and prints how many bytes went by in a second. */
#include <getopt.h>

#include "../common/sample.h"
#include "../common/stream.h"

enum { tag_block = 1, tag_result };

typedef struct {
  int blocks, size;
} Options;

static void work_for_master(Options options, int rank, int ranks) {
  const size_t size = (size_t)options.size;
  double* block = allocate(2 * size * sizeof(double));
  for (int number = rank - 1; number < options.blocks; number += ranks - 1) {
    MPI_Recv(block, 2 * options.size, MPI_DOUBLE, 0, tag_block, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    stream_triad(block, block + size, block, size);
    MPI_Send(block, options.size, MPI_DOUBLE, 0, tag_result, MPI_COMM_WORLD);
  }
  free(block);
}

/* One block to each worker, then one result of each. */
static int stream_round(Options options, int first, int workers, double* block) {
  const size_t size = (size_t)options.size;
  const int end = first + workers < options.blocks ? first + workers : options.blocks;
  for (int number = first; number < end; number++) {
    stream_fill(number, block, block + size, size);
    MPI_Send(block, 2 * options.size, MPI_DOUBLE, 1 + number % workers, tag_block, MPI_COMM_WORLD);
  }
  int right = 1;
  for (int number = first; number < end; number++) {
    MPI_Recv(block, options.size, MPI_DOUBLE, 1 + number % workers, tag_result, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    right = stream_is_right(number, block, size) && right;
  }
  return right;
}

static int send_stream(Options options, int workers) {
  double* block = allocate(2 * (size_t)options.size * sizeof(double));
  int right = 1;
  for (int first = 0; first < options.blocks; first += workers)
    right = stream_round(options, first, workers, block) && right;
  free(block);
  return right;
}

static Options parse(int argc, char** argv) {
  Options options = {400, 65536};
  for (int letter; (letter = getopt(argc, argv, "b:n:")) != -1;) {
    if (letter == 'b')
      options.blocks = option_number(optarg, 1);
    else if (letter == 'n')
      options.size = option_number(optarg, 1);
    else
      give_up("usage: stream [-b blocks] [-n numbers in a block]");
  }
  return options;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Options options = parse(argc, argv);
  int rank, ranks, right = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks < 2) give_up("stream: there must be at least two ranks, a master and a worker");
  if (rank == 0) {
    const double begin = MPI_Wtime();
    right = send_stream(options, ranks - 1);
    const double seconds = MPI_Wtime() - begin;
    fprintf(stderr, "stream: %.0f MB/s\n", 3e-6 * sizeof(double) * options.blocks * options.size / seconds);
    printf("stream: %d blocks of %d numbers\nstream: %s\n", options.blocks, options.size,
           right ? "VERIFIED, every number is right" : "WRONG, a number is not");
  } else {
    work_for_master(options, rank, ranks);
  }
  MPI_Bcast(&right, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return right ? 0 : 1;
}
