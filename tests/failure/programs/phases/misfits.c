/* Collectives whose members do not fit each other: who is given too much gets an error, always the same, and
 * the next collective is as good as before. Other libraries hang or write on. */
#include "phases.h"

enum { most = 200, guard = 16 };

static int class_of(int error) {
  int class = MPI_SUCCESS;
  if (error != MPI_SUCCESS) MPI_Error_class(error, &class);
  return class;
}

static int call(int kind, int root, int* out, int* in, int sent, int taken, MPI_Comm comm, int later) {
  MPI_Request request;
  int error = MPI_SUCCESS, me;
  MPI_Comm_rank(comm, &me);
  if (later && kind == 0)
    error = MPI_Ibcast(in, me == root ? sent : taken, MPI_INT, root, comm, &request);
  else if (later && kind == 1)
    error = MPI_Iallgather(out, sent, MPI_INT, in, taken, MPI_INT, comm, &request);
  else if (later)
    error = MPI_Iscatter(out, sent, MPI_INT, in, taken, MPI_INT, root, comm, &request);
  else if (kind == 0)
    error = MPI_Bcast(in, me == root ? sent : taken, MPI_INT, root, comm);
  else if (kind == 1)
    error = MPI_Allgather(out, sent, MPI_INT, in, taken, MPI_INT, comm);
  else
    error = MPI_Scatter(out, sent, MPI_INT, in, taken, MPI_INT, root, comm);
  return later && error == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : error;
}

/* On a communicator of its own. */
void misfit(void) {
#ifdef LLAMADA_MPI
  const Members* where = draw_members();
  int kind = (int)draw(3), sent = 2 + (int)draw(most - 2), taken = 1 + (int)draw((uint64_t)sent - 1);
  int later = (int)draw(2);
  if (is_mpich || where->comm == MPI_COMM_NULL) return;
  int root = (int)draw((uint64_t)where->size), out[most * ranks_most], in[most * ranks_most + guard], sum = 0;
  MPI_Comm comm;
  MPI_Comm_dup(where->comm, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  memset(out, 1, sizeof out);
  memset(in, 2, sizeof in);
  int error = call(kind, root, out, in, sent, taken, comm, later);
  if (kind != 0 || where->me != root) CHECK(class_of(error) == MPI_ERR_TRUNCATE);
  int room = kind == 0 ? (where->me == root ? sent : taken) : kind == 1 ? taken * where->size : taken;
  for (int i = 0; i < guard; i++) CHECK(in[room + i] == 0x02020202);
  CHECK(MPI_Allreduce(&where->me, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS);
  CHECK(sum == where->size * (where->size - 1) / 2);
  MPI_Comm_free(&comm);
#endif
}
