/* Collectives of intercommunicators, blocking and nonblocking; MPI 5.2.2, 5.2.3. */
#include "check.h"

static MPI_Comm inter;
static int own_size, other_size, own_rank, is_left;

/* The value that rank r of the left or right group contributes in a round. */
static int value(int left, int r, int round) { return (left ? 1000 : 2000) + 10 * r + round; }

static int root_argument(int root_is_left, int root) {
  if (root_is_left != is_left) return root;
  return own_rank == root ? MPI_ROOT : MPI_PROC_NULL;
}

/* Waits for a nonblocking one; blocking ones leave MPI_REQUEST_NULL. */
static void complete(MPI_Request* request) { OK(MPI_Wait(request, MPI_STATUS_IGNORE)); }

static void rooted(int root_is_left, int later, int round) {
  MPI_Request request = MPI_REQUEST_NULL;
  int root = root_argument(root_is_left, 0), here = root == MPI_ROOT, part = root >= 0;
  int givers = other_size, mine = value(is_left, own_rank, round);
  int *all = allocate(sizeof(int) * (size_t)ranks), got = -1;

  int data = here ? 4711 + round : -1;
  if (later)
    OK(MPI_Ibcast(&data, 1, MPI_INT, root, inter, &request));
  else
    OK(MPI_Bcast(&data, 1, MPI_INT, root, inter));
  complete(&request);
  CHECK_EQ(data, here || part ? 4711 + round : -1);

  if (later)
    OK(MPI_Igather(&mine, 1, MPI_INT, all, 1, MPI_INT, root, inter, &request));
  else
    OK(MPI_Gather(&mine, 1, MPI_INT, all, 1, MPI_INT, root, inter));
  complete(&request);
  for (int r = 0; here && r < givers; r++) CHECK_EQ(all[r], value(!is_left, r, round));

  for (int r = 0; here && r < givers; r++) all[r] = 31 * r + round;
  if (later)
    OK(MPI_Iscatter(all, 1, MPI_INT, &got, 1, MPI_INT, root, inter, &request));
  else
    OK(MPI_Scatter(all, 1, MPI_INT, &got, 1, MPI_INT, root, inter));
  complete(&request);
  CHECK_EQ(got, part ? 31 * own_rank + round : -1);

  int sum = -1, expected = 0;
  if (later)
    OK(MPI_Ireduce(&mine, &sum, 1, MPI_INT, MPI_SUM, root, inter, &request));
  else
    OK(MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_SUM, root, inter));
  complete(&request);
  for (int r = 0; r < givers; r++) expected += value(!is_left, r, round);
  CHECK_EQ(sum, here ? expected : -1);
  free(all);
}

static void all_to_all(int later, int round) {
  MPI_Request request = MPI_REQUEST_NULL;
  int mine = value(is_left, own_rank, round);
  int *given = allocate(sizeof(int) * (size_t)ranks), *taken = allocate(sizeof(int) * (size_t)ranks);

  if (later)
    OK(MPI_Iallgather(&mine, 1, MPI_INT, taken, 1, MPI_INT, inter, &request));
  else
    OK(MPI_Allgather(&mine, 1, MPI_INT, taken, 1, MPI_INT, inter));
  complete(&request);
  for (int r = 0; r < other_size; r++) CHECK_EQ(taken[r], value(!is_left, r, round));

  for (int r = 0; r < other_size; r++) given[r] = 100 * mine + r;
  if (later)
    OK(MPI_Ialltoall(given, 1, MPI_INT, taken, 1, MPI_INT, inter, &request));
  else
    OK(MPI_Alltoall(given, 1, MPI_INT, taken, 1, MPI_INT, inter));
  complete(&request);
  for (int r = 0; r < other_size; r++) CHECK_EQ(taken[r], 100 * value(!is_left, r, round) + own_rank);

  int sum = 0, expected = 0;
  if (later)
    OK(MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, inter, &request));
  else
    OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, inter));
  complete(&request);
  for (int r = 0; r < other_size; r++) expected += value(!is_left, r, round);
  CHECK_EQ(sum, expected);

  /* Both sides reduce own_size * other_size elements. */
  int *many = allocate(sizeof(int) * (size_t)(own_size * other_size)),
      *counts = allocate(sizeof(int) * (size_t)own_size);
  for (int i = 0; i < own_size * other_size; i++) many[i] = mine + i;
  for (int r = 0; r < own_size; r++) counts[r] = other_size;
  for (int block = 0; block < 2; block++) {
    if (block)
      OK(MPI_Reduce_scatter_block(many, taken, other_size, MPI_INT, MPI_SUM, inter));
    else if (later)
      OK(MPI_Ireduce_scatter(many, taken, counts, MPI_INT, MPI_SUM, inter, &request));
    else
      OK(MPI_Reduce_scatter(many, taken, counts, MPI_INT, MPI_SUM, inter));
    complete(&request);
    for (int i = 0; i < other_size; i++)
      CHECK_EQ(taken[i], expected + other_size * (own_rank * other_size + i));
  }
  if (later)
    OK(MPI_Ibarrier(inter, &request));
  else
    OK(MPI_Barrier(inter));
  complete(&request);
  free(many);
  free(counts);
  free(given);
  free(taken);
}

static void large(void) {
  enum { count = 300000 };
  int* data = allocate(sizeof(int) * count);
  if (is_left && own_rank == 0) fill(data, count, 5, 1);
  OK(MPI_Bcast(data, count, MPI_INT, root_argument(1, 0), inter));
  if (!is_left) CHECK(filled(data, count, 5, 1));
  free(data);
}

int main(int argc, char** argv) {
  begin("coll_inter", &argc, &argv);
  if (ranks > 1) {
    MPI_Comm half;
    is_left = rank < (ranks + 1) / 3 || rank == 0;
    int left_size = (ranks + 1) / 3 > 0 ? (ranks + 1) / 3 : 1;
    OK(MPI_Comm_split(MPI_COMM_WORLD, is_left, 0, &half));
    OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, is_left ? left_size : 0, 3, &inter));
    OK(MPI_Comm_size(inter, &own_size));
    OK(MPI_Comm_remote_size(inter, &other_size));
    OK(MPI_Comm_rank(inter, &own_rank));
    for (int round = 0; round < 6; round++) {
      rooted(round & 1, round & 2, round);
      all_to_all(round & 2, round);
    }
    large();
    MPI_Comm copy;
    MPI_Request request;
    OK(MPI_Comm_idup(inter, &copy, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI_Comm_free(&inter);
    inter = copy;
    rooted(1, 1, 9);
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&half));
  }
  return finish();
}
