/* What is made in one phase and used in later ones: collectives to be started again and again. */
#include "phases.h"

enum { places = 4, count_most = 3000 };

typedef struct {
  MPI_Request request;
  Members where;
  int made;                     /* by those of its communicator, which need not have this rank */
  int number, root, count, sum; /* the phase that made it; of a broadcast; whether it is an MPI_Allreduce */
  int32_t *out, *in;
} Standing;

static Standing all[places];

static void fill(int32_t* to, const Standing* standing, int from) {
  write_bytes((unsigned char*)to, value_of(standing->where.world[from], standing->number, 1), 0,
              (size_t)standing->count * 4);
}

static void make(Standing* standing, const Members* where) {
  standing->where = *where;
  standing->number = phase.number;
  standing->root = (int)draw((uint64_t)where->size);
  standing->count = (int)draw_bytes(count_most * 4) / 4;
  standing->sum = (int)draw(2);
  standing->out = allocate(count_most * 4);
  standing->in = allocate(count_most * 4);
#ifdef HAS_MPI_4
  if (standing->sum)
    MPI_Allreduce_init(standing->out, standing->in, standing->count, MPI_INT32_T, MPI_BXOR, where->comm,
                       MPI_INFO_NULL, &standing->request);
  else
    MPI_Bcast_init(standing->in, standing->count, MPI_INT32_T, standing->root, where->comm, MPI_INFO_NULL,
                   &standing->request);
#endif
}

static void run(Standing* standing) {
  int32_t* expected = allocate(count_most * 4);
  fill(standing->sum ? standing->out : expected, standing,
       standing->sum ? standing->where.me : standing->root);
  memset(standing->in, 0, (size_t)standing->count * 4);
  if (!standing->sum && standing->where.me == standing->root) fill(standing->in, standing, standing->root);
  MPI_Start(&standing->request);
  if (own(2)) linger();
  for (int i = 0; standing->sum && i < standing->where.size; i++) {
    int32_t* one = allocate(count_most * 4);
    fill(one, standing, i);
    for (int k = 0; k < standing->count; k++) expected[k] ^= one[k];
    free(one);
  }
  MPI_Wait(&standing->request, MPI_STATUS_IGNORE);
  CHECK(memcmp(standing->in, expected, (size_t)standing->count * 4) == 0);
  free(expected);
}

static void end(Standing* standing) {
  MPI_Request_free(&standing->request);
  free(standing->out);
  free(standing->in);
  standing->out = NULL;
}

/* Its communicator may be freed before it. Only certain phases make and free one, so that all know which
 * there are. */
void standing_collective(void) {
  Standing* standing = &all[draw(places)];
  const Members* where = draw_members();
  int ends = draw(4) == 0;
#ifndef HAS_MPI_4
  return;
#endif
  if (is_mpich) return;
  if (!standing->made && phase.certain) {
    standing->made = 1;
    if (where->comm != MPI_COMM_NULL) make(standing, where);
    return;
  }
  if (standing->out) run(standing);
  if (!ends || !phase.certain) return;
  if (standing->out) end(standing);
  standing->made = 0;
}

void end_standing(void) {
  for (int i = 0; i < places; i++)
    if (all[i].out) end(&all[i]);
}
