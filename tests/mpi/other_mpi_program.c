/* A program that another MPI's compiler has linked. */
#include <stdio.h>

int MPI_Init(int* argc, char*** argv);

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc == 1) printf("rank 0 of 1\n");
  return 0;
}
