/* Is long before MPI_Init, some ranks longer than others, so that MPI_Init waits; then a short ring. */
#include "program.h"

int main(int argc, char** argv) {
  options(argc, argv);
  const char* text = getenv("PMI_RANK");
  usleep((useconds_t)(steps * pause_us / 4));
  usleep((useconds_t)(text ? atoi(text) % 3 : 1) * 200000);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int sum = 0;
  for (int step = 0; step < steps / 2; step++) {
    int mine = rank + step, total = 0;
    MPI_Allreduce(&mine, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(total == ranks * (ranks - 1) / 2 + ranks * step);
    sum += total;
    pause_step();
  }
  if (rank == 0) printf("slow_start %d\n", sum);
  return finish("slow_start");
}
