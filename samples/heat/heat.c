/* Heat spreads from a hot llama over a cold plate: a 2-D Jacobi stencil in blocks, one for each rank.
 *
 * Every step exchanges the four edges of the block with Isend, Irecv and Waitall; every few steps an
 * Allreduce sums the residual. At the end rank 0 collects the field, prints its hash and writes it as a PNG.
 */
#include <getopt.h>
#include <math.h>
#include <png.h>

#include "../common/sample.h"

enum { residual_period = 50, llama_size = 16 };

static const char* const llama[llama_size] = {
    "....#.#.........", "....#.#.........", "...####.........", "..##.##.........",
    "..#####.........", "....###.........", "....###.........", "....###.........",
    "....###########.", "....############", "....###########.", "....##########..",
    "....##......##..", "....##......##..", "....##......##..", "....##......##..",
};

typedef struct {
  int size, steps, check;
  const char* image;
} Options;

/* The block of one rank: rows × columns cells with a border of one cell that belongs to the neighbours. */
typedef struct {
  int size;        /* of the whole field in each direction */
  int row, column; /* of the first cell in the whole field */
  int rows, columns, pitch;
  double *now, *next;
} Block;

static double* cell(const Block* block, double* field, int row, int column) {
  return &field[(size_t)(row + 1) * block->pitch + column + 1];
}

/* Whether a cell is part of the llama, which is always hot. */
static int is_hot(int size, int row, int column) {
  int y = (int)((long)row * 2 * llama_size / size) - llama_size / 2;
  int x = (int)((long)column * 2 * llama_size / size) - llama_size / 2;
  return x >= 0 && y >= 0 && x < llama_size && y < llama_size && llama[y][x] == '#';
}

static Block make_block(int size, int row, int column, int rows, int columns) {
  Block block = {size, row, column, rows, columns, columns + 2, NULL, NULL};
  size_t bytes = sizeof(double) * (size_t)(rows + 2) * (size_t)(columns + 2);
  block.now = allocate(bytes);
  block.next = allocate(bytes);
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++)
      *cell(&block, block.now, i, j) = is_hot(size, row + i, column + j) ? 100.0 : 0.0;
  return block;
}

static void free_block(Block* block) {
  free(block->now);
  free(block->next);
}

/* One step of one row. */
static void relax_row(const double* above, const double* here, const double* below, double* next,
                      int columns) {
  for (int j = 0; j < columns; j++) next[j] = 0.25 * ((above[j] + below[j]) + (here[j - 1] + here[j + 1]));
}

static void heat_row(const Block* block, int i, double* next) {
  int size = block->size, row = block->row + i;
  if (row < size / 4 - 1 || row > size - size / 4 + 1) return;
  for (int j = 0; j < block->columns; j++)
    if (is_hot(size, row, block->column + j)) next[j] = 100.0;
}

static void relax(Block* block) {
  for (int i = 0; i < block->rows; i++) {
    double* next = cell(block, block->next, i, 0);
    relax_row(cell(block, block->now, i - 1, 0), cell(block, block->now, i, 0),
              cell(block, block->now, i + 1, 0), next, block->columns);
    heat_row(block, i, next);
  }
  double* swap = block->now;
  block->now = block->next;
  block->next = swap;
}

/* The sum of the squares of what the last step changed in this block. */
static double residual_of(Block* block) {
  double sum = 0;
  for (int i = 0; i < block->rows; i++)
    for (int j = 0; j < block->columns; j++) {
      double change = *cell(block, block->now, i, j) - *cell(block, block->next, i, j);
      sum += change * change;
    }
  return sum;
}

/* Where the part of one coordinate of a grid begins: parts differ by at most one cell. */
static int part_begin(int size, int parts, int part) { return (int)((long)size * part / parts); }

static Block block_of(int size, const int dims[2], const int coords[2]) {
  int row = part_begin(size, dims[0], coords[0]), column = part_begin(size, dims[1], coords[1]);
  return make_block(size, row, column, part_begin(size, dims[0], coords[0] + 1) - row,
                    part_begin(size, dims[1], coords[1] + 1) - column);
}

/* Sends the four edges and receives those of the neighbours into the border. */
static void exchange(Block* block, MPI_Comm grid, const int neighbours[4], MPI_Datatype column_type) {
  MPI_Request requests[8];
  double* field = block->now;
  int last_row = block->rows - 1, last_column = block->columns - 1;
  double* receive[4] = {cell(block, field, -1, 0), cell(block, field, last_row + 1, 0),
                        cell(block, field, 0, -1), cell(block, field, 0, last_column + 1)};
  double* send[4] = {cell(block, field, 0, 0), cell(block, field, last_row, 0), cell(block, field, 0, 0),
                     cell(block, field, 0, last_column)};
  for (int side = 0; side < 4; side++) {
    MPI_Datatype type = side < 2 ? MPI_DOUBLE : column_type;
    int count = side < 2 ? block->columns : 1;
    MPI_Irecv(receive[side], count, type, neighbours[side], side, grid, &requests[side]);
    MPI_Isend(send[side], count, type, neighbours[side], side ^ 1, grid, &requests[4 + side]);
  }
  MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
}

/* Runs all steps and returns the hash of the residuals on the way, the same on every rank. */
static uint64_t run(Block* block, MPI_Comm grid, int steps, double* residual) {
  int neighbours[4];
  MPI_Cart_shift(grid, 0, 1, &neighbours[0], &neighbours[1]);
  MPI_Cart_shift(grid, 1, 1, &neighbours[2], &neighbours[3]);
  MPI_Datatype column_type;
  MPI_Type_vector(block->rows, 1, block->pitch, MPI_DOUBLE, &column_type);
  MPI_Type_commit(&column_type);
  uint64_t history = 0;
  for (int step = 1; step <= steps; step++) {
    exchange(block, grid, neighbours, column_type);
    relax(block);
    if (step % residual_period != 0 && step != steps) continue;
    double mine = residual_of(block);
    MPI_Allreduce(&mine, residual, 1, MPI_DOUBLE, MPI_SUM, grid);
    history = hash_doubles(history, residual, 1);
  }
  MPI_Type_free(&column_type);
  return history;
}

/* On rank 0 the whole field, size × size; NULL on the others. */
static double* collect(Block* block, MPI_Comm grid, const int dims[2]) {
  int rank, ranks, size = block->size;
  MPI_Comm_rank(grid, &rank);
  MPI_Comm_size(grid, &ranks);
  MPI_Datatype mine;
  MPI_Type_vector(block->rows, block->columns, block->pitch, MPI_DOUBLE, &mine);
  MPI_Type_commit(&mine);
  MPI_Request sent;
  MPI_Isend(cell(block, block->now, 0, 0), 1, mine, 0, 9, grid, &sent);
  double* field = rank == 0 ? allocate(sizeof(double) * (size_t)size * (size_t)size) : NULL;
  for (int from = 0; rank == 0 && from < ranks; from++) {
    int coords[2];
    MPI_Cart_coords(grid, from, 2, coords);
    int row = part_begin(size, dims[0], coords[0]), column = part_begin(size, dims[1], coords[1]);
    MPI_Datatype theirs;
    MPI_Type_vector(part_begin(size, dims[0], coords[0] + 1) - row,
                    part_begin(size, dims[1], coords[1] + 1) - column, size, MPI_DOUBLE, &theirs);
    MPI_Type_commit(&theirs);
    MPI_Recv(&field[(size_t)row * size + column], 1, theirs, from, 9, grid, MPI_STATUS_IGNORE);
    MPI_Type_free(&theirs);
  }
  MPI_Wait(&sent, MPI_STATUS_IGNORE);
  MPI_Type_free(&mine);
  return field;
}

/* Black, red, yellow, white. */
static void colour_of(double heat, png_byte* pixel) {
  double scale = sqrt(heat < 0 ? 0 : heat > 100 ? 1 : heat / 100.0) * 3;
  for (int channel = 0; channel < 3; channel++) {
    double value = scale - channel;
    pixel[channel] = (png_byte)(255 * (value < 0 ? 0 : value > 1 ? 1 : value));
  }
}

static void write_image(const char* path, const double* field, int size) {
  png_image image;
  memset(&image, 0, sizeof image);
  image.version = PNG_IMAGE_VERSION;
  image.width = image.height = (png_uint_32)size;
  image.format = PNG_FORMAT_RGB;
  png_byte* pixels = allocate(3 * (size_t)size * (size_t)size);
  for (size_t i = 0; i < (size_t)size * (size_t)size; i++) colour_of(field[i], &pixels[3 * i]);
  if (!png_image_write_to_file(&image, path, 0, pixels, 0, NULL)) {
    fprintf(stderr, "heat: cannot write '%s': %s\n", path, image.message);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  free(pixels);
}

/* The same steps by one process alone: the field must agree bit for bit, for every cell is computed from the
 * same numbers in the same order however the plate is cut. */
static int agrees_with_serial(const double* field, int size, int steps) {
  Block whole = make_block(size, 0, 0, size, size);
  for (int step = 0; step < steps; step++) relax(&whole);
  int equal = 1;
  for (int i = 0; i < size; i++)
    equal =
        equal && memcmp(cell(&whole, whole.now, i, 0), &field[(size_t)i * size], sizeof(double) * size) == 0;
  free_block(&whole);
  return equal;
}

static int finish(const Options* options, double* field, double residual, uint64_t history) {
  uint64_t hash = hash_doubles(0, field, (size_t)options->size * (size_t)options->size);
  printf("heat: %d x %d cells, %d steps, residual %.6e (history %016llx)\n", options->size, options->size,
         options->steps, residual, (unsigned long long)history);
  printf("heat: field %016llx\n", (unsigned long long)hash);
  if (options->image[0]) write_image(options->image, field, options->size);
  if (!options->check) return 0;
  int equal = agrees_with_serial(field, options->size, options->steps);
  printf("heat: %s\n",
         equal ? "VERIFIED, equal to a serial run bit for bit" : "WRONG, a serial run gives another field");
  return equal ? 0 : 1;
}

static Options parse(int argc, char** argv) {
  static const struct option names[] = {
      {"size", 1, 0, 'n'}, {"steps", 1, 0, 's'}, {"output", 1, 0, 'o'}, {"check", 0, 0, 'c'}, {0, 0, 0, 0}};
  Options options = {384, 4000, 0, "heat.png"};
  for (int letter; (letter = getopt_long(argc, argv, "n:s:o:c", names, NULL)) != -1;) {
    if (letter == 'n')
      options.size = option_number(optarg, 16);
    else if (letter == 's')
      options.steps = option_number(optarg, 1);
    else if (letter == 'o')
      options.image = optarg;
    else if (letter == 'c')
      options.check = 1;
    else
      give_up("usage: heat [-n size] [-s steps] [-o file.png] [--check]");
  }
  return options;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Options options = parse(argc, argv);
  int ranks, rank, dims[2] = {0, 0}, periods[2] = {0, 0}, coords[2];
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Dims_create(ranks, 2, dims);
  if (dims[0] > options.size || dims[1] > options.size) give_up("heat: more ranks than cells in a row");
  MPI_Comm grid;
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
  MPI_Comm_rank(grid, &rank);
  MPI_Cart_coords(grid, rank, 2, coords);
  Block block = block_of(options.size, dims, coords);
  double residual = 0;
  uint64_t history = run(&block, grid, options.steps, &residual);
  double* field = collect(&block, grid, dims);
  int code = rank == 0 ? finish(&options, field, residual, history) : 0;
  MPI_Bcast(&code, 1, MPI_INT, 0, grid);
  free(field);
  free_block(&block);
  MPI_Comm_free(&grid);
  MPI_Finalize();
  return code;
}
