/* The edges of a picture: rank 0 reads a PNG and scatters its rows, everybody finds the edges in theirs, rank
 * 0 gathers them and writes a PNG.
 *
 * Rank 0 looks for the edges alone as well and compares every pixel. */
#include <getopt.h>

#include "../common/sample.h"
#include "../common/sobel.h"

typedef struct {
  const char *input, *output;
  int width; /* of the test picture, where there is no input */
  int rounds;
} Options;

static Picture open_picture(Options options) {
  Picture picture;
  if (!options.input) picture = sobel_test_picture(options.width, options.width * 3 / 4 + 1);
  if (options.input && !sobel_read(options.input, &picture))
    give_up("sobel: the picture cannot be read: is it a PNG?");
  if (!picture.pixels) give_up("sobel: there is not enough memory");
  return picture;
}

static int first_row(int height, int ranks, int rank) { return (int)((long)height * rank / ranks); }

/* Rank 0 sends each rank its rows with one more above and below. */
static void scatter_rows(const Picture* picture, uint8_t* halo, int rank, int ranks) {
  const int width = picture->width, height = picture->height;
  for (int other = 1; rank == 0 && other < ranks; other++) {
    const int begin = first_row(height, ranks, other), end = first_row(height, ranks, other + 1);
    sobel_halo(picture, begin, end, halo);
    MPI_Send(halo, (end - begin + 2) * width, MPI_BYTE, other, 0, MPI_COMM_WORLD);
  }
  const int rows = first_row(height, ranks, rank + 1) - first_row(height, ranks, rank);
  if (rank == 0)
    sobel_halo(picture, 0, rows, halo);
  else
    MPI_Recv(halo, (rows + 2) * width, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void gather_rows(const uint8_t* mine, uint8_t* all, int width, int height, int rank, int ranks) {
  int* counts = allocate(sizeof(int) * (size_t)ranks);
  int* places = allocate(sizeof(int) * (size_t)ranks);
  for (int r = 0; r < ranks; r++) {
    places[r] = first_row(height, ranks, r) * width;
    counts[r] = first_row(height, ranks, r + 1) * width - places[r];
  }
  MPI_Gatherv(mine, counts[rank], MPI_BYTE, all, counts, places, MPI_BYTE, 0, MPI_COMM_WORLD);
  free(counts);
  free(places);
}

static void find_edges(const Picture* picture, uint8_t* edges, int rank, int ranks) {
  const int width = picture->width, height = picture->height;
  uint8_t* halo = allocate((size_t)(height / ranks + 4) * (size_t)width);
  uint8_t* mine = allocate((size_t)(height / ranks + 2) * (size_t)width);
  scatter_rows(picture, halo, rank, ranks);
  sobel_rows(halo, mine, first_row(height, ranks, rank + 1) - first_row(height, ranks, rank), width);
  gather_rows(mine, edges, width, height, rank, ranks);
  free(halo);
  free(mine);
}

static Options parse(int argc, char** argv) {
  Options options = {NULL, "edges.png", 640, 1};
  for (int letter; (letter = getopt(argc, argv, "i:o:w:r:")) != -1;) {
    if (letter == 'i')
      options.input = optarg;
    else if (letter == 'o')
      options.output = optarg;
    else if (letter == 'w')
      options.width = option_number(optarg, 1);
    else if (letter == 'r')
      options.rounds = option_number(optarg, 1);
    else
      give_up("usage: sobel [-i in.png] [-o out.png] [-w width of the test picture] [-r rounds]");
  }
  if (options.width > 20000) give_up("sobel: the width must not exceed 20000");
  return options;
}

/* Rank 0 judges, and writes what was found. */
static int finish(Options options, const Picture* picture, const uint8_t* edges) {
  const int right = sobel_is_right(picture, edges);
  if (!sobel_write(options.output, picture->width, picture->height, edges))
    give_up("sobel: the output cannot be written");
  printf("sobel: %d x %d pixels, the edges are in %s\nsobel: %s\n", picture->width, picture->height,
         options.output, right ? "VERIFIED, every pixel is right" : "WRONG, a pixel is not");
  return right;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Options options = parse(argc, argv);
  int rank, ranks, right = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Picture picture = {0, 0, NULL};
  if (rank == 0) picture = open_picture(options);
  int size[2] = {picture.width, picture.height};
  MPI_Bcast(size, 2, MPI_INT, 0, MPI_COMM_WORLD);
  picture.width = size[0];
  picture.height = size[1];
  uint8_t* edges = rank == 0 ? allocate((size_t)size[0] * (size_t)size[1]) : NULL;
  for (int round = 0; round < options.rounds; round++) find_edges(&picture, edges, rank, ranks);
  if (rank == 0) right = finish(options, &picture, edges);
  MPI_Bcast(&right, 1, MPI_INT, 0, MPI_COMM_WORLD);
  free(edges);
  free(picture.pixels);
  MPI_Finalize();
  return right ? 0 : 1;
}
