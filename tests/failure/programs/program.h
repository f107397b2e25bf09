/* What the programs of the failure matrix share. Each works at 2 or more ranks, takes -s STEPS and -p
 * MICROSECONDS (the pause in each step, so that a run is long enough to be hit), checks its own answer,
 * prints the same on stdout in every run, and ends with "ok <name>" on rank 0 and code 0; a wrong answer ends
 * with a sentence and code 99. */
#pragma once

#include <getopt.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, ranks, steps = 1000, pause_us = 1000;
static const char* kind = ""; /* -k: which variant of the program */

#include "check.h"

UNUSED static void options(int argc, char** argv) {
  for (int letter; (letter = getopt(argc, argv, "s:p:k:")) != -1;) {
    if (letter == 's')
      steps = atoi(optarg);
    else if (letter == 'p')
      pause_us = atoi(optarg);
    else if (letter == 'k')
      kind = optarg;
    else
      exit(2);
  }
}

UNUSED static void begin(int argc, char** argv) {
  options(argc, argv);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
}

/* The work of a step: time goes by, nothing else. */
UNUSED static void pause_step(void) {
  if (pause_us > 0) usleep((useconds_t)pause_us);
}

UNUSED static int finish(const char* name) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("ok %s%s%s\n", name, *kind ? " " : "", kind);
  MPI_Finalize();
  return 0;
}

/* A chain that one rank leads and the others witness: the leader's hash depends on outcomes that nobody can
 * foretell; it tells it to the others as it goes, and at the end all must have been told what the leader
 * holds. A replacement of the leader that repeats one outcome differently is found out by the witnesses. */
typedef struct {
  uint64_t hash; /* of the leader */
  uint64_t told; /* digest of what was told: on the leader for each witness the same */
  int leader;
} Chain;

/* Collective: every rank calls it as often. */
UNUSED static void chain_tell(Chain* chain, uint64_t outcome) {
  if (rank == chain->leader) chain->hash = mix(chain->hash, outcome);
  uint64_t said = chain->hash;
  if (rank == chain->leader) {
    for (int peer = 0; peer < ranks; peer++)
      if (peer != rank) MPI_Send(&said, 1, MPI_UINT64_T, peer, 4000, MPI_COMM_WORLD);
  } else {
    MPI_Recv(&said, 1, MPI_UINT64_T, chain->leader, 4000, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  chain->told = mix(chain->told, said);
}

UNUSED static void chain_check(const Chain* chain) {
  uint64_t truth = chain->told;
  MPI_Bcast(&truth, 1, MPI_UINT64_T, chain->leader, MPI_COMM_WORLD);
  CHECK(truth == chain->told);
}
