/* Finalizes early and lives on: writes lines, sleeps, and has an exit handler that writes as well. */
#include "program.h"

static void on_exit_line(void) {
  usleep(300000);
  printf("rank %d leaves\n", rank);
}

int main(int argc, char** argv) {
  begin(argc, argv);
  atexit(on_exit_line);
  uint64_t hash = 1;
  for (int step = 0; step < 50; step++) {
    uint64_t got = 0, mine = mix(hash, (uint64_t)rank);
    MPI_Allreduce(&mine, &got, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    hash = mix(hash, got);
  }
  MPI_Finalize();
  for (int i = 0; i < steps / 50; i++) {
    printf("rank %d after the end, line %d\n", rank, i);
    usleep((useconds_t)pause_us * 50);
  }
  printf("rank %d has %016llx\n", rank, (unsigned long long)hash);
  return 0;
}
