/* Communicators of which MPI_COMM_WORLD knows nothing (MPI 4.0, chapter 11). */
#include "phases.h"

#ifdef HAS_MPI_4
static MPI_Group draw_group(MPI_Session session) {
  MPI_Group world, some;
  int in_it[ranks_most], count = 1 + (int)draw((uint64_t)ranks), first = (int)draw((uint64_t)ranks);
  for (int i = 0; i < count; i++) in_it[i] = (first + i) % ranks;
  MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
  MPI_Group_incl(world, count, in_it, &some);
  MPI_Group_free(&world);
  return some;
}

static void sum_up(MPI_Comm comm) {
  uint64_t sum = 0, mine = value_of(rank, 0, 0), expected = 0;
  Members where = members_of(comm);
  for (int i = 0; i < where.size; i++) expected += value_of(where.world[i], 0, 0);
  MPI_Allreduce(&mine, &sum, 1, MPI_UINT64_T, MPI_SUM, comm);
  CHECK(sum == expected);
}

void from_session(void) {
  MPI_Session session;
  MPI_Comm comm;
  char tag[32];
  int me;
  snprintf(tag, sizeof tag, "phase %d", phase.number);
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group group = draw_group(session);
  MPI_Group_rank(group, &me);
  if (me != MPI_UNDEFINED) {
    MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    sum_up(comm);
    MPI_Comm_free(&comm);
  }
  MPI_Group_free(&group);
  MPI_Session_finalize(&session);
}
#else
void from_session(void) {}
#endif
