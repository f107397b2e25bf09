/* A hot edge warms a square plate: a 2-D Jacobi stencil in strips of rows, one for each rank. Every few steps
 * the ranks print how much still changes, and take a checkpoint from which the program can go on.
 */
#include <getopt.h>

#include "../common/sample.h"

/* With another MPI there are no checkpoints, and the program is the same without them. */
#if defined(__has_include)
#if __has_include(<llamada-checkpoint.h>)
#include <llamada-checkpoint.h>
#define HAS_CHECKPOINTS 1
#endif
#endif

typedef struct {
  int size, steps, every, check;
} Options;

/* The rows of one rank, with one more above and below that belong to the neighbours. A step reads one of the
 * two fields and writes the other one. Which is which follows from the number of the step: pointers are no
 * part of a checkpoint, so none may change between two checkpoints. */
typedef struct {
  int size;      /* of the whole plate in each direction */
  int first_row; /* in the whole plate */
  int rows;
  double* fields[2];
} Strip;

/* All else that a step needs and changes. */
static struct {
  int step;
  double residual;
} progress;

static size_t field_bytes(const Strip* strip) {
  return sizeof(double) * (size_t)(strip->rows + 2) * (size_t)strip->size;
}

static double* row_of(const Strip* strip, int field, int row) {
  return &strip->fields[field][(size_t)(row + 1) * (size_t)strip->size];
}

static Strip make_strip(int size, int first_row, int rows) {
  Strip strip = {size, first_row, rows, {NULL, NULL}};
  for (int field = 0; field < 2; field++) {
    strip.fields[field] = allocate(field_bytes(&strip));
    /* The upper edge of the plate is hot and stays so. */
    for (int column = 0; first_row == 0 && column < size; column++) row_of(&strip, field, 0)[column] = 100;
  }
  return strip;
}

static void free_strip(Strip* strip) {
  for (int field = 0; field < 2; field++) free(strip->fields[field]);
}

/* Gives the neighbours the first and the last row, and takes theirs. */
static void exchange(const Strip* strip, int field, int above, int below) {
  const int size = strip->size;
  MPI_Sendrecv(row_of(strip, field, 0), size, MPI_DOUBLE, above, 1, row_of(strip, field, strip->rows), size,
               MPI_DOUBLE, below, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv(row_of(strip, field, strip->rows - 1), size, MPI_DOUBLE, below, 2, row_of(strip, field, -1),
               size, MPI_DOUBLE, above, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* One step; the edges of the plate stay as they are. Returns the sum of the squares of what it changed. */
static double relax(const Strip* strip, int field) {
  double changed = 0;
  for (int row = 0; row < strip->rows; row++) {
    if (strip->first_row + row == 0 || strip->first_row + row == strip->size - 1) continue;
    const double *above = row_of(strip, field, row - 1), *here = row_of(strip, field, row);
    const double* below = row_of(strip, field, row + 1);
    double* next = row_of(strip, 1 - field, row);
    for (int column = 1; column < strip->size - 1; column++) {
      next[column] = 0.25 * ((above[column] + below[column]) + (here[column - 1] + here[column + 1]));
      changed += (next[column] - here[column]) * (next[column] - here[column]);
    }
  }
  return changed;
}

/* What a checkpoint has to have, in the same order in each run of the program. */
static void register_memory(const Strip* strip) {
#if HAS_CHECKPOINTS
  LLAMADA_Checkpoint_register(&progress, sizeof progress);
  for (int field = 0; field < 2; field++)
    LLAMADA_Checkpoint_register(strip->fields[field], field_bytes(strip));
#else
  (void)strip;
#endif
}

/* If it fails the program goes on: mpirun has said why. */
static void take_checkpoint(void) {
#if HAS_CHECKPOINTS
  int restarted = 0;
  LLAMADA_Checkpoint(MPI_COMM_WORLD, &restarted);
#endif
}

static void run(const Strip* strip, const Options* options, int rank, int ranks) {
  const int above = rank > 0 ? rank - 1 : MPI_PROC_NULL, below = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;
  register_memory(strip);
  while (progress.step < options->steps) {
    /* From here the program goes on when it has been killed: with another progress.step. */
    if (progress.step % options->every == 0) take_checkpoint();
    exchange(strip, progress.step % 2, above, below);
    const double changed = relax(strip, progress.step % 2);
    progress.step++;
    if (progress.step % options->every != 0 && progress.step != options->steps) continue;
    MPI_Allreduce(&changed, &progress.residual, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("jacobi: step %d, residual %.12e\n", progress.step, progress.residual);
  }
}

/* Each rank computes the whole plate by itself, and compares its own rows bit for bit. */
static int agrees_with_serial(const Strip* strip, int steps) {
  Strip whole = make_strip(strip->size, 0, strip->size);
  for (int step = 0; step < steps; step++) relax(&whole, step % 2);
  const int equal = memcmp(row_of(strip, steps % 2, 0), row_of(&whole, steps % 2, strip->first_row),
                           sizeof(double) * (size_t)strip->rows * (size_t)strip->size) == 0;
  free_strip(&whole);
  return equal;
}

static int finish(const Strip* strip, const Options* options, int rank) {
  if (rank == 0)
    printf("jacobi: %d x %d cells, %d steps, residual %.12e\n", options->size, options->size, options->steps,
           progress.residual);
  if (!options->check) return 0;
  const int mine = agrees_with_serial(strip, options->steps);
  int all;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  if (rank == 0)
    printf("jacobi: %s\n",
           all ? "VERIFIED, equal to a serial run bit for bit" : "WRONG, a serial run gives another plate");
  return all ? 0 : 1;
}

static Options parse(int argc, char** argv) {
  static const struct option names[] = {{"size", 1, 0, 'n'},
                                        {"steps", 1, 0, 's'},
                                        {"checkpoint", 1, 0, 'c'},
                                        {"check", 0, 0, 'v'},
                                        {0, 0, 0, 0}};
  Options options = {512, 4000, 100, 0};
  for (int letter; (letter = getopt_long(argc, argv, "n:s:c:v", names, NULL)) != -1;) {
    if (letter == 'n')
      options.size = option_number(optarg, 3);
    else if (letter == 's')
      options.steps = option_number(optarg, 1);
    else if (letter == 'c')
      options.every = option_number(optarg, 1);
    else if (letter == 'v')
      options.check = 1;
    else
      give_up("usage: jacobi [-n size] [-s steps] [-c every] [--check]");
  }
  return options;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const Options options = parse(argc, argv);
  int ranks, rank;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (ranks > options.size) give_up("jacobi: more ranks than rows");
  const int first_row = (int)((long)options.size * rank / ranks);
  Strip strip =
      make_strip(options.size, first_row, (int)((long)options.size * (rank + 1) / ranks) - first_row);
  run(&strip, &options, rank, ranks);
  const int code = finish(&strip, &options, rank);
  free_strip(&strip);
  MPI_Finalize();
  return code;
}
