/* Each rank in turn has the window of rank 0 for itself, then there are windows one after the other: a
 * program to be killed in an epoch, and while windows are made and freed. */
#include "check.h"

int main(int argc, char** argv) {
  begin("epochs", &argc, &argv);
  int* memory;
  int sum = 0;
  MPI_Win win;
  OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  OK(MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
  *memory = 0;
  OK(MPI_Barrier(MPI_COMM_WORLD));
  for (int round = 0; round < 20; round++) {
    int value;
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
    OK(MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win));
    value++;
    OK(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win));
    OK(MPI_Win_unlock(0, win));
  }
  OK(MPI_Barrier(MPI_COMM_WORLD));
  if (rank == 0) CHECK_EQ(*memory, 20 * ranks);
  OK(MPI_Win_free(&win));
  for (int round = 0; round < 10; round++) {
    int value = rank + 1, got = -1, next = (rank + 1) % ranks;
    OK(round % 2 ? MPI_Win_create(&value, sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win)
                 : MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    if (round % 2 == 0) *memory = value;
    OK(MPI_Win_fence(0, win));
    OK(MPI_Get(&got, 1, MPI_INT, next, 0, 1, MPI_INT, win));
    OK(MPI_Win_fence(0, win));
    CHECK_EQ(got, next + 1);
    OK(MPI_Win_free(&win));
  }
  return finish();
}
