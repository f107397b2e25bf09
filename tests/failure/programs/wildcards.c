/* The leader takes messages from anybody: -k recv, probe, iprobe, persistent or all in turn. The order of the
 * matches goes into a chain that everybody witnesses. */
#include "program.h"

static uint64_t take_recv(int step) {
  uint64_t hash = 0, got;
  MPI_Status status;
  for (int i = 1; i < ranks; i++) {
    MPI_Recv(&got, 1, MPI_UINT64_T, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
    CHECK(got == mix((uint64_t)status.MPI_SOURCE, (uint64_t)step));
    hash = mix(hash, (uint64_t)status.MPI_SOURCE);
  }
  return hash;
}

static uint64_t take_probed(int step, int blocking) {
  uint64_t hash = 0, got;
  MPI_Status status;
  for (int i = 1; i < ranks; i++) {
    int there = 0, count;
    if (blocking)
      MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    else
      for (; !there; hash++) MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &there, &status);
    MPI_Get_count(&status, MPI_UINT64_T, &count);
    CHECK(count == 1 && status.MPI_TAG == 1);
    MPI_Recv(&got, 1, MPI_UINT64_T, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(got == mix((uint64_t)status.MPI_SOURCE, (uint64_t)step));
    hash = mix(hash, (uint64_t)status.MPI_SOURCE);
  }
  return hash;
}

static uint64_t take_persistent(int step, MPI_Request* request, const uint64_t* got) {
  uint64_t hash = 0;
  MPI_Status status;
  for (int i = 1; i < ranks; i++) {
    MPI_Start(request);
    MPI_Wait(request, &status);
    CHECK(*got == mix((uint64_t)status.MPI_SOURCE, (uint64_t)step));
    hash = mix(hash, (uint64_t)status.MPI_SOURCE);
  }
  return hash;
}

int main(int argc, char** argv) {
  begin(argc, argv);
  static const char* const kinds[] = {"recv", "probe", "iprobe", "persistent"};
  int chosen = -1;
  for (int i = 0; i < 4; i++)
    if (strcmp(kind, kinds[i]) == 0) chosen = i;
  CHECK(chosen >= 0 || !*kind);
  Chain chain = {1, 1, 0};
  uint64_t slot;
  MPI_Request persistent;
  MPI_Recv_init(&slot, 1, MPI_UINT64_T, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &persistent);
  for (int step = 0; step < steps; step++) {
    uint64_t outcome = 0, message = mix((uint64_t)rank, (uint64_t)step);
    if (rank != 0) {
      if (mix(message, 5) % 3 == 0) pause_step();
      MPI_Send(&message, 1, MPI_UINT64_T, 0, 1, MPI_COMM_WORLD);
    } else {
      switch (chosen >= 0 ? chosen : step % 4) {
        case 0:
          outcome = take_recv(step);
          break;
        case 1:
          outcome = take_probed(step, 1);
          break;
        case 2:
          outcome = take_probed(step, 0);
          break;
        default:
          outcome = take_persistent(step, &persistent, &slot);
      }
    }
    chain_tell(&chain, outcome);
    pause_step();
  }
  MPI_Request_free(&persistent);
  chain_check(&chain);
  return finish("wildcards");
}
