/* What the programs for ULFM share: they run on under a profile with rank_replacement BLANK or SHRINK while
 * ranks are killed. Each rank that lives prints "ok <chapter>" at the end. */
#pragma once

#include <mpi-ext.h>

#include "check.h"

static int class_of(int code) {
  int error_class = code;
  MPI_Error_class(code, &error_class);
  return error_class;
}

/* Whether a call has failed because a process has died, or somebody has revoked the communicator; no other
 * failure may happen. */
UNUSED static int is_loss(int code) {
  if (code == MPI_SUCCESS) return 0;
  const int error_class = class_of(code);
  if (error_class != MPIX_ERR_PROC_FAILED && error_class != MPIX_ERR_REVOKED) {
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, text, &length);
    fprintf(stderr, "%s\n", text);
    CHECK(!"a loss");
  }
  return 1;
}

static void begin_ulfm(int* argc, char*** argv, const char* name) {
  chapter = name;
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
}

static int end_ulfm(void) {
  printf("ok %s\n", chapter);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}

/* Whether all that live have this flag, the same answer for all of them; whoever has died meanwhile is
 * acknowledged. `after_loss`: a mask for the flag from then on. */
UNUSED static int all_have(MPI_Comm comm, int flag, int after_loss) {
  for (;;) {
    int all = flag;
    const int code = MPIX_Comm_agree(comm, &all);
    if (code == MPI_SUCCESS) return all;
    CHECK_EQ(class_of(code), MPIX_ERR_PROC_FAILED);
    OK(MPIX_Comm_failure_ack(comm));
    flag &= after_loss;
  }
}

/* Whether all that live did well, and nobody has died meanwhile. */
UNUSED static int all_did_well(MPI_Comm comm, int well) { return all_have(comm, well ? 1 : 0, 0); }
/* Whether all that live want this, whoever has died meanwhile. */
UNUSED static int all_want(MPI_Comm comm, int wish) { return all_have(comm, wish ? 1 : 0, 1); }

/* The number of ranks of MPI_COMM_WORLD in this communicator, as a bit each. */
UNUSED static unsigned long long members_of(MPI_Comm comm) {
  MPI_Group world, group;
  int size, members[64], world_ranks[64];
  unsigned long long found = 0;
  MPI_Comm_size(comm, &size);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Comm_group(comm, &group);
  for (int i = 0; i < size; ++i) members[i] = i;
  MPI_Group_translate_ranks(group, size, members, world, world_ranks);
  for (int i = 0; i < size; ++i) found |= 1ull << world_ranks[i];
  MPI_Group_free(&world);
  MPI_Group_free(&group);
  return found;
}
