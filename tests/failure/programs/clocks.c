/* Clocks, random numbers and the process id go into messages and decide branches; -k none. */
#define _GNU_SOURCE
#include <sys/random.h>
#include <sys/time.h>
#include <time.h>

#include "program.h"

static uint64_t outcome(int step, int early) {
  struct timeval day;
  struct timespec now;
  uint64_t random = 0;
  switch (step % 7) {
    case 0:
      return (uint64_t)rand();
    case 1:
      gettimeofday(&day, NULL);
      return (uint64_t)day.tv_usec;
    case 2:
      clock_gettime(CLOCK_MONOTONIC, &now);
      return (uint64_t)now.tv_nsec;
    case 3:
      CHECK(getrandom(&random, sizeof random, 0) == sizeof random);
      return random;
    case 4:
      return (uint64_t)getpid();
    case 5:
      return (uint64_t)(MPI_Wtime() * 1e6);
    default:
      return (uint64_t)time(NULL) + (uint64_t)early;
  }
}

int main(int argc, char** argv) {
  srand((unsigned)time(NULL));
  int early = rand();
  begin(argc, argv);
  Chain chain = {1, 1, 0};
  double last = 0;
  srand((unsigned)(time(NULL) ^ getpid()));
  for (int step = 0; step < steps; step++) {
    chain.leader = step % ranks;
    uint64_t mine = outcome(step, early);
    /* A branch that only the leader's outcome decides. */
    if (mine % 3 == 0) mine = mix(mine, outcome(step + 1, early));
    chain_tell(&chain, mine);
    double now = MPI_Wtime();
    CHECK(now >= last);
    last = now;
    pause_step();
  }
  /* What each leader told is in everybody's digest. */
  for (chain.leader = 0; chain.leader < ranks; chain.leader++) chain_check(&chain);
  return finish("clocks");
}
