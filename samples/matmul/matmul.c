/* C = A × B over rows: rank 0 scatters the rows of A and broadcasts B, everybody multiplies, rank 0 gathers
 * C.
 *
 * The numbers are integers modulo 2^64, so that the check against a serial product on rank 0 is exact. */
#include <getopt.h>

#include "../common/sample.h"

typedef uint64_t Number;

typedef struct {
  int size, rounds;
} Options;

static Number* matrix(int rows, int columns) {
  return allocate(sizeof(Number) * (size_t)rows * (size_t)columns);
}

static void make_inputs(Number* a, Number* b, int size, Number seed) {
  for (size_t i = 0; i < (size_t)size * (size_t)size; i++) {
    a[i] = hash_mix(seed, 2 * i);
    b[i] = hash_mix(seed, 2 * i + 1);
  }
}

static void multiply(const Number* a, const Number* b, Number* c, int rows, int size) {
  memset(c, 0, sizeof(Number) * (size_t)rows * (size_t)size);
  for (int i = 0; i < rows; i++)
    for (int k = 0; k < size; k++) {
      Number factor = a[(size_t)i * size + k];
      for (int j = 0; j < size; j++) c[(size_t)i * size + j] += factor * b[(size_t)k * size + j];
    }
}

/* Whether one process alone finds the same product. */
static int is_product(const Number* a, const Number* b, const Number* c, int size) {
  Number* reference = matrix(size, size);
  multiply(a, b, reference, size, size);
  int equal = memcmp(reference, c, sizeof(Number) * (size_t)size * (size_t)size) == 0;
  free(reference);
  return equal;
}

typedef struct {
  int rank, ranks, rows; /* of this rank */
  int *counts, *places;  /* numbers of each rank's rows, and where they begin */
  Number *a, *b, *c;     /* whole matrices: a and c on rank 0 alone */
  Number *my_a, *my_c;
} Work;

static Work make_work(int size) {
  Work work = {0};
  MPI_Comm_rank(MPI_COMM_WORLD, &work.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &work.ranks);
  work.counts = allocate(sizeof(int) * (size_t)work.ranks);
  work.places = allocate(sizeof(int) * (size_t)work.ranks);
  for (int r = 0; r < work.ranks; r++) {
    int first = (int)((long)size * r / work.ranks), end = (int)((long)size * (r + 1) / work.ranks);
    work.places[r] = first * size;
    work.counts[r] = (end - first) * size;
  }
  work.rows = work.counts[work.rank] / size;
  work.b = matrix(size, size);
  work.my_a = matrix(work.rows, size);
  work.my_c = matrix(work.rows, size);
  if (work.rank == 0) {
    work.a = matrix(size, size);
    work.c = matrix(size, size);
  }
  return work;
}

static void free_work(Work* work) {
  free(work->counts);
  free(work->places);
  free(work->a);
  free(work->b);
  free(work->c);
  free(work->my_a);
  free(work->my_c);
}

/* One product; rank 0 returns whether it is right. */
static int multiply_once(Work* work, int size, Number seed) {
  if (work->rank == 0) make_inputs(work->a, work->b, size, seed);
  MPI_Bcast(work->b, size * size, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  MPI_Scatterv(work->a, work->counts, work->places, MPI_UINT64_T, work->my_a, work->counts[work->rank],
               MPI_UINT64_T, 0, MPI_COMM_WORLD);
  multiply(work->my_a, work->b, work->my_c, work->rows, size);
  MPI_Gatherv(work->my_c, work->counts[work->rank], MPI_UINT64_T, work->c, work->counts, work->places,
              MPI_UINT64_T, 0, MPI_COMM_WORLD);
  return work->rank == 0 ? is_product(work->a, work->b, work->c, size) : 1;
}

static Options parse(int argc, char** argv) {
  Options options = {256, 60};
  for (int letter; (letter = getopt(argc, argv, "n:r:")) != -1;) {
    if (letter == 'n')
      options.size = option_number(optarg, 1);
    else if (letter == 'r')
      options.rounds = option_number(optarg, 1);
    else
      give_up("usage: matmul [-n size] [-r rounds]");
  }
  if (options.size > 20000) give_up("matmul: the size must not exceed 20000");
  return options;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Options options = parse(argc, argv);
  Work work = make_work(options.size);
  uint64_t hash = 0;
  int right = 1;
  for (int round = 0; round < options.rounds; round++) {
    right = multiply_once(&work, options.size, (Number)round + 1) && right;
    for (size_t i = 0; work.rank == 0 && i < (size_t)options.size * (size_t)options.size; i++)
      hash = hash_mix(hash, work.c[i]);
  }
  if (work.rank == 0)
    printf("matmul: %d products of %d x %d, hash %016llx\nmatmul: %s\n", options.rounds, options.size,
           options.size, (unsigned long long)hash,
           right ? "VERIFIED, every product is right" : "WRONG, a product is not");
  MPI_Bcast(&right, 1, MPI_INT, 0, MPI_COMM_WORLD);
  free_work(&work);
  MPI_Finalize();
  return right ? 0 : 1;
}
