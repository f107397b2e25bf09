/* Half a round trip of data that does not lie in one piece, by its size, in microseconds: every second double
 * ("vector"), columns of 8 doubles ("columns"), blocks of 1 to 7 ints at uneven places ("indexed"). */
#include "bench.h"

enum { batches = 11 };

static double batch(char* buffer, MPI_Datatype type, int rounds, int rank) {
  double start = MPI_Wtime();
  for (int i = 0; i < rounds; i++) {
    if (rank == 0) MPI_Send(buffer, 1, type, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(buffer, 1, type, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(buffer, 1, type, 0, 0, MPI_COMM_WORLD);
  }
  return MPI_Wtime() - start;
}

static void measure(const char* figure, char* buffer, MPI_Datatype type, int rank) {
  double halves[batches];
  int size, rounds;
  MPI_Type_commit(&type);
  MPI_Type_size(type, &size);
  rounds = size <= 4096 ? 300 : size <= 65536 ? 50 : 5;
  batch(buffer, type, rounds, rank);
  for (int b = 0; b < batches; b++) halves[b] = batch(buffer, type, rounds, rank) / rounds / 2 * 1e6;
  if (rank == 0) print_figure(figure, size, median(halves, batches), "us");
  MPI_Type_free(&type);
}

static MPI_Datatype indexed(int bytes) {
  int blocks = bytes / 16, *lengths = malloc(sizeof(int) * (size_t)blocks),
      *places = malloc(sizeof(int) * (size_t)blocks);
  MPI_Datatype type;
  for (int i = 0, at = 0; i < blocks; i++) {
    lengths[i] = i % 7 + 1;
    places[i] = at;
    at += lengths[i] + i % 3 + 1;
  }
  MPI_Type_indexed(blocks, lengths, places, MPI_INT, &type);
  free(lengths);
  free(places);
  return type;
}

int main(int argc, char** argv) {
  static const int sizes[] = {1024, 65536, 1 << 20};
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank < 2) {
    pin_rank(rank);
    char* buffer = memory(8 << 20);
    for (int i = 0; i < 3; i++) {
      MPI_Datatype type;
      MPI_Type_vector(sizes[i] / 8, 1, 2, MPI_DOUBLE, &type);
      measure("vector", buffer, type, rank);
      MPI_Type_vector(sizes[i] / 64, 8, 32, MPI_DOUBLE, &type);
      measure("columns", buffer, type, rank);
      measure("indexed", buffer, indexed(sizes[i]), rank);
    }
    free(buffer);
  }
  MPI_Finalize();
  return 0;
}
