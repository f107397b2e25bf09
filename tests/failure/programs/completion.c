/* The leader completes receives by Test, Testany, Testsome, Waitany and Waitsome, or gives up by Cancel; what
 * each call answered goes into a chain that everybody witnesses. -k test, testany, testsome, waitany,
 * waitsome or cancel. */
#include "program.h"

enum { most = 64, each = 3 };
static MPI_Request requests[most * each];
static uint64_t got[most * each];
static int count;

static void post(int step) {
  count = 0;
  for (int peer = 1; peer < ranks; peer++)
    for (int i = 0; i < each; i++, count++)
      MPI_Irecv(&got[count], 1, MPI_UINT64_T, peer, step % 50 * each + i, MPI_COMM_WORLD, &requests[count]);
}

static uint64_t complete(int way) {
  uint64_t hash = 0;
  int indices[most * each], done, index, flag;
  for (int left = count; left > 0;) {
    switch (way) {
      case 0:
        for (int i = 0; i < count; i++) {
          if (requests[i] == MPI_REQUEST_NULL) continue;
          MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
          hash = mix(hash, (uint64_t)(flag ? i + 1 : 0));
          left -= flag;
        }
        break;
      case 1:
        MPI_Testany(count, requests, &index, &flag, MPI_STATUS_IGNORE);
        hash = mix(hash, flag ? (uint64_t)index + 1 : 0);
        left -= flag;
        break;
      case 2:
        MPI_Testsome(count, requests, &done, indices, MPI_STATUSES_IGNORE);
        hash = mix(hash, (uint64_t)done);
        for (int i = 0; i < done; i++) hash = mix(hash, (uint64_t)indices[i]);
        left -= done;
        break;
      case 3:
        MPI_Waitany(count, requests, &index, MPI_STATUS_IGNORE);
        hash = mix(hash, (uint64_t)index);
        left--;
        break;
      default:
        MPI_Waitsome(count, requests, &done, indices, MPI_STATUSES_IGNORE);
        hash = mix(hash, (uint64_t)done);
        for (int i = 0; i < done; i++) hash = mix(hash, (uint64_t)indices[i]);
        left -= done;
    }
  }
  return hash;
}

/* Cancels receives that may or may not have been matched by then; what is left is received after all. */
static uint64_t give_up_some(int step) {
  uint64_t hash = 0;
  for (int i = 0; i < count; i++) {
    MPI_Status status;
    int cancelled;
    if (i % 2) MPI_Cancel(&requests[i]);
    MPI_Wait(&requests[i], &status);
    MPI_Test_cancelled(&status, &cancelled);
    CHECK(i % 2 || !cancelled);
    hash = mix(hash, (uint64_t)cancelled);
    if (cancelled)
      MPI_Recv(&got[i], 1, MPI_UINT64_T, 1 + i / each, step % 50 * each + i % each, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  }
  return hash;
}

int main(int argc, char** argv) {
  begin(argc, argv);
  static const char* const kinds[] = {"test", "testany", "testsome", "waitany", "waitsome", "cancel"};
  int chosen = -1;
  for (int i = 0; i < 6; i++)
    if (strcmp(kind, kinds[i]) == 0) chosen = i;
  CHECK((chosen >= 0 || !*kind) && ranks <= most);
  Chain chain = {1, 1, 0};
  for (int step = 0; step < steps; step++) {
    uint64_t outcome = 0;
    if (rank != 0) {
      for (int i = 0; i < each; i++) {
        uint64_t message = mix((uint64_t)(rank * each + i), (uint64_t)step);
        if (message % 7 == 0) pause_step();
        MPI_Send(&message, 1, MPI_UINT64_T, 0, step % 50 * each + i, MPI_COMM_WORLD);
      }
    } else {
      int way = chosen >= 0 ? chosen : step % 6;
      post(step);
      outcome = way == 5 ? give_up_some(step) : complete(way);
      for (int i = 0; i < count; i++)
        CHECK(got[i] == mix((uint64_t)((1 + i / each) * each + i % each), (uint64_t)step));
    }
    chain_tell(&chain, outcome);
    pause_step();
  }
  chain_check(&chain);
  return finish("completion");
}
