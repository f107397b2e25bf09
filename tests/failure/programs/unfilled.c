/* Sends arrays of main()'s of which it has filled a part, or nothing: the rest is what was on the stack when
 * main() began, which a replacement has to find there, too. */
#include "program.h"

int main(int argc, char** argv) {
  char name[256], small[40], medium[1000], large[9000];
  begin(argc, argv);
  if (rank == 0) strcpy(name, "partly filled");
  uint64_t hash = 1;
  struct {
    char* bytes;
    int count;
  } arrays[] = {{name, sizeof name}, {small, sizeof small}, {medium, sizeof medium}, {large, sizeof large}};
  for (int step = 0; step < 5; step++)
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
      MPI_Bcast(arrays[i].bytes, arrays[i].count, MPI_CHAR, 0, MPI_COMM_WORLD);
      if (rank == 0) MPI_Send(arrays[i].bytes, arrays[i].count, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
      if (rank == 1)
        MPI_Recv(arrays[i].bytes, arrays[i].count, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      hash = mix(hash, (uint64_t)arrays[i].count);
    }
  if (rank == 0) printf("%s %016llx\nok unfilled\n", name, (unsigned long long)hash);
  MPI_Finalize();
  return 0;
}
