/* Ranks die, and those that live start others in their place: shrink, spawn, merge. Spawned processes die,
 * too, where the seed says so: before MPI_Init, before they have joined, and later.
 *
 *   ulfm_respawn SEED STEPS */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "ulfm_check.h"

enum { spawns_max = 12 };
enum place { before_init, before_merge, at_work, places };

static int wanted;  /* how many are to work together */
static int spawned; /* how often this rank has started others */
static unsigned seed;
static char** words;

static unsigned draw(unsigned a, unsigned b) {
  unsigned value = seed * 2654435761u ^ a * 40503u ^ b * 69069u;
  value ^= value >> 13;
  value *= 2246822519u;
  return value ^ value >> 16;
}

/* Each sixth spawned process dies somewhere. `number`: its process id tells it from others. */
static void may_die(enum place place) {
  const unsigned drawn = draw((unsigned)getpid(), 7);
  if (drawn % 6 == 0 && drawn / 6 % places == place) raise(SIGKILL);
}

/* All members of both groups have the new communicator, or none goes on with it. */
static int joined(MPI_Comm inter, int is_new, MPI_Comm* all) {
  const int is_good = !is_loss(MPI_Intercomm_merge(inter, is_new, all));
  if (!is_good) MPIX_Comm_revoke(inter);
  /* Not all parents may have the intercommunicator, so nobody may wait for them. They start others. */
  if (!is_good && is_new) exit(1);
  const int is_good_for_all = all_did_well(inter, is_good);
  if (is_good && !is_good_for_all) OK(MPI_Comm_free(all));
  if (is_good_for_all) OK(MPI_Comm_set_errhandler(*all, MPI_ERRORS_RETURN));
  return is_good_for_all;
}

/* Those who live, and others for those who do not. */
static int spawn_others(MPI_Comm living, int count, MPI_Comm* all) {
  MPI_Comm inter;
  const int code =
      MPI_Comm_spawn(words[0], words + 1, count, MPI_INFO_NULL, 0, living, &inter, MPI_ERRCODES_IGNORE);
  /* A node may be lost while they are started. */
  if (code != MPI_SUCCESS && class_of(code) != MPI_ERR_SPAWN) is_loss(code);
  if (!all_did_well(living, code == MPI_SUCCESS)) {
    if (code == MPI_SUCCESS) {
      MPIX_Comm_revoke(inter);
      OK(MPI_Comm_free(&inter));
    }
    return 0;
  }
  OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
  const int good = joined(inter, 0, all);
  OK(MPI_Comm_free(&inter));
  return good;
}

static void repair(MPI_Comm* comm) {
  MPIX_Comm_revoke(*comm);
  for (;;) {
    MPI_Comm living, all;
    int size;
    if (is_loss(MPIX_Comm_shrink(*comm, &living))) continue;
    OK(MPI_Comm_set_errhandler(living, MPI_ERRORS_RETURN));
    MPI_Comm_size(living, &size);
    if (*comm != MPI_COMM_WORLD) OK(MPI_Comm_free(comm));
    *comm = living;
    /* In the end those that are left go on alone. New ones may not know yet how often others were started. */
    if (!all_want(living, size < wanted && spawned < spawns_max)) return;
    ++spawned;
    if (!spawn_others(living, wanted - size, &all)) continue;
    OK(MPI_Comm_free(comm));
    *comm = all;
    return;
  }
}

/* The same step for all, for some may be new. */
static int agree_on_step(MPI_Comm comm, int* step) {
  int own[2] = {*step, spawned}, all[2];
  if (is_loss(MPI_Allreduce(own, all, 2, MPI_INT, MPI_MAX, comm))) return 0;
  *step = all[0];
  spawned = all[1];
  return 1;
}

static int work(MPI_Comm comm, int step) {
  int size, own_rank, sum = 0, from_left = -1;
  MPI_Comm_size(comm, &size);
  MPI_Comm_rank(comm, &own_rank);
  const int value = own_rank * 1000 + step, left = (own_rank + size - 1) % size;
  if (is_loss(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm))) return 0;
  CHECK_EQ(sum, size * (size - 1) / 2 * 1000 + size * step);
  if (is_loss(MPI_Sendrecv(&value, 1, MPI_INT, (own_rank + 1) % size, 5, &from_left, 1, MPI_INT, left, 5,
                           comm, MPI_STATUS_IGNORE)))
    return 0;
  CHECK_EQ(from_left, left * 1000 + step);
  return 1;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  words = argv;
  seed = (unsigned)atoi(argv[1]);
  const int steps = atoi(argv[2]);
  if (argc > 3) may_die(before_init);
  begin_ulfm(&argc, &argv, "ulfm_respawn");
  MPI_Comm comm = MPI_COMM_WORLD, parents;
  MPI_Comm_get_parent(&parents);
  char size_text[16];
  int step = 0, is_new = parents != MPI_COMM_NULL;
  wanted = is_new ? atoi(argv[3]) : ranks;
  if (is_new) {
    OK(MPI_Comm_set_errhandler(parents, MPI_ERRORS_RETURN));
    may_die(before_merge);
    if (!joined(parents, 1, &comm)) exit(1);
    OK(MPI_Comm_free(&parents));
    may_die(at_work);
  }
  snprintf(size_text, sizeof size_text, "%d", wanted);
  char* again[] = {argv[0], argv[1], argv[2], size_text, NULL};
  words = again;
  int is_known = 0;
  while (!is_known || step < steps) {
    int well = is_known ? work(comm, step) : agree_on_step(comm, &step);
    if (!well) MPIX_Comm_revoke(comm);
    if (!all_did_well(comm, well)) {
      is_known = 0;
      repair(&comm);
    } else if (is_known) {
      ++step;
    } else {
      is_known = 1;
    }
  }
  return end_ulfm();
}
