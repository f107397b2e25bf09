/* Mprobe, Improbe, Mrecv, Imrecv; MPI 3.8.2. */
#include "check.h"

int main(int argc, char** argv) {
  begin("p2p_mprobe", &argc, &argv);
  int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
  const int counts[] = {0, 1, 3000, 300000};
  for (int i = 0; i < 4; i++) {
    int count = counts[i], flag = 0;
    int *out = allocate(sizeof(int) * (size_t)count), *in = allocate(sizeof(int) * (size_t)count);
    MPI_Request send[2], receive;
    MPI_Message first, second;
    MPI_Status status;
    fill(out, count, (uint32_t)rank, 1);
    OK(MPI_Isend(out, count, MPI_INT, right, 1, MPI_COMM_WORLD, &send[0]));
    OK(MPI_Isend(out, 0, MPI_INT, right, 1, MPI_COMM_WORLD, &send[1]));
    OK(MPI_Mprobe(left, 1, MPI_COMM_WORLD, &first, &status));
    CHECK(status_is(&status, left, 1, MPI_INT, count));
    while (!flag) OK(MPI_Improbe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, &second, &status));
    CHECK(status_is(&status, left, 1, MPI_INT, 0));
    OK(MPI_Imrecv(in, 0, MPI_INT, &second, &receive));
    CHECK(second == MPI_MESSAGE_NULL);
    OK(MPI_Wait(&receive, &status));
    CHECK(status_is(&status, left, 1, MPI_INT, 0));
    OK(MPI_Mrecv(in, count, MPI_INT, &first, &status));
    CHECK(first == MPI_MESSAGE_NULL);
    CHECK(status_is(&status, left, 1, MPI_INT, count));
    CHECK(filled(in, count, (uint32_t)left, 1));
    OK(MPI_Waitall(2, send, MPI_STATUSES_IGNORE));
    OK(MPI_Improbe(left, 1, MPI_COMM_WORLD, &flag, &first, &status));
    CHECK(!flag);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    free(out);
    free(in);
  }
  MPI_Message message;
  MPI_Status status;
  OK(MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &message, &status));
  CHECK(message == MPI_MESSAGE_NO_PROC);
  OK(MPI_Mrecv(NULL, 0, MPI_INT, &message, &status));
  CHECK(status_is(&status, MPI_PROC_NULL, MPI_ANY_TAG, MPI_INT, 0));
  return finish();
}
