/* Neighbourhood collectives on grids, graphs and distributed graphs, blocking, nonblocking and persistent;
 * MPI 7.6, 7.7. */
#include "check.h"

enum { mode_count = 3 };

static void finish_request(MPI_Request* request, int mode) {
  if (mode == 0) return;
  if (mode == 2) OK(MPI_Start(request));
  OK(MPI_Wait(request, MPI_STATUS_IGNORE));
  if (mode == 2) OK(MPI_Request_free(request));
}

static void allgather(MPI_Comm comm, int mine, int* taken, int mode) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (mode == 0)
    OK(MPI_Neighbor_allgather(&mine, 1, MPI_INT, taken, 1, MPI_INT, comm));
  else if (mode == 1)
    OK(MPI_Ineighbor_allgather(&mine, 1, MPI_INT, taken, 1, MPI_INT, comm, &request));
  else
    OK(MPI_Neighbor_allgather_init(&mine, 1, MPI_INT, taken, 1, MPI_INT, comm, MPI_INFO_NULL, &request));
  finish_request(&request, mode);
}

static void alltoall(MPI_Comm comm, const int* given, int* taken, int mode) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (mode == 0)
    OK(MPI_Neighbor_alltoall(given, 1, MPI_INT, taken, 1, MPI_INT, comm));
  else if (mode == 1)
    OK(MPI_Ineighbor_alltoall(given, 1, MPI_INT, taken, 1, MPI_INT, comm, &request));
  else
    OK(MPI_Neighbor_alltoall_init(given, 1, MPI_INT, taken, 1, MPI_INT, comm, MPI_INFO_NULL, &request));
  finish_request(&request, mode);
}

/* A row of ranks: what goes to the right is given as 10 * rank + 1, to the left as 10 * rank. In a ring of
 * one or two the neighbour on both sides is the same. */
static void on_a_row(int periodic, int mode) {
  MPI_Comm row;
  int left, right, taken[2] = {-1, -1}, given[2] = {10 * rank, 10 * rank + 1};
  OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &row));
  OK(MPI_Cart_shift(row, 0, 1, &left, &right));
  allgather(row, rank, taken, mode);
  CHECK_EQ(taken[0], left == MPI_PROC_NULL ? -1 : left);
  CHECK_EQ(taken[1], right == MPI_PROC_NULL ? -1 : right);
  taken[0] = taken[1] = -1;
  alltoall(row, given, taken, mode);
  CHECK_EQ(taken[0], left == MPI_PROC_NULL ? -1 : 10 * left + 1);
  CHECK_EQ(taken[1], right == MPI_PROC_NULL ? -1 : 10 * right);
  OK(MPI_Comm_free(&row));
}

/* Each rank to all others and itself: a graph that all know. */
static void on_a_graph(int mode) {
  MPI_Comm graph;
  int *index = allocate(sizeof(int) * (size_t)ranks),
      *edges = allocate(sizeof(int) * (size_t)(ranks * ranks));
  int *given = allocate(sizeof(int) * (size_t)ranks), *taken = allocate(sizeof(int) * (size_t)ranks);
  for (int r = 0; r < ranks; r++) {
    index[r] = ranks * (r + 1);
    for (int other = 0; other < ranks; other++) edges[r * ranks + other] = other;
  }
  OK(MPI_Graph_create(MPI_COMM_WORLD, ranks, index, edges, 0, &graph));
  for (int r = 0; r < ranks; r++) given[r] = 100 * rank + r;
  alltoall(graph, given, taken, mode);
  for (int r = 0; r < ranks; r++) CHECK_EQ(taken[r], 100 * r + rank);
  allgather(graph, 5 * rank, taken, mode);
  for (int r = 0; r < ranks; r++) CHECK_EQ(taken[r], 5 * r);
  OK(MPI_Comm_free(&graph));
  free(index);
  free(edges);
  free(given);
  free(taken);
}

/* A ring in one direction with two edges from each rank to the next, of parts of different length and kind.
 */
static void on_a_distributed_graph(int mode) {
  enum { count = 40000 };
  MPI_Comm ring;
  int before = (rank + ranks - 1) % ranks, after = (rank + 1) % ranks;
  int sources[2] = {before, before}, destinations[2] = {after, after};
  OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, sources, MPI_UNWEIGHTED, 2, destinations,
                                    MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring));
  int given[2] = {10 * rank, 10 * rank + 1}, taken[2] = {-1, -1};
  alltoall(ring, given, taken, mode);
  CHECK_EQ(taken[0], 10 * before);
  CHECK_EQ(taken[1], 10 * before + 1);

  int *out = allocate(sizeof(int) * (count + 1)), *in = allocate(sizeof(int) * (count + 1));
  int counts[2] = {1, count}, places[2] = {count, 0};
  MPI_Request request = MPI_REQUEST_NULL;
  fill(out, count, (uint32_t)rank, 7);
  out[count] = -rank;
  if (mode == 0)
    OK(MPI_Neighbor_alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, ring));
  else if (mode == 1)
    OK(MPI_Ineighbor_alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, ring, &request));
  else
    OK(MPI_Neighbor_alltoallv_init(out, counts, places, MPI_INT, in, counts, places, MPI_INT, ring,
                                   MPI_INFO_NULL, &request));
  finish_request(&request, mode);
  CHECK(filled(in, count, (uint32_t)before, 7));
  CHECK_EQ(in[count], -before);

  MPI_Aint bytes[2] = {4 * count, 0};
  MPI_Datatype types[2] = {MPI_INT, MPI_INT};
  memset(in, 0, sizeof(int) * (count + 1));
  if (mode == 0)
    OK(MPI_Neighbor_alltoallw(out, counts, bytes, types, in, counts, bytes, types, ring));
  else if (mode == 1)
    OK(MPI_Ineighbor_alltoallw(out, counts, bytes, types, in, counts, bytes, types, ring, &request));
  else
    OK(MPI_Neighbor_alltoallw_init(out, counts, bytes, types, in, counts, bytes, types, ring, MPI_INFO_NULL,
                                   &request));
  finish_request(&request, mode);
  CHECK(filled(in, count, (uint32_t)before, 7));
  CHECK_EQ(in[count], -before);

  int both[2] = {-1, -1}, one_each[2] = {1, 1}, swapped[2] = {1, 0}, mine = 3 * rank;
  OK(MPI_Neighbor_allgatherv(&mine, 1, MPI_INT, both, one_each, swapped, MPI_INT, ring));
  CHECK_EQ(both[0], 3 * before);
  CHECK_EQ(both[1], 3 * before);
  free(out);
  free(in);
  OK(MPI_Comm_free(&ring));
}

static void without_topology(void) {
  int out[8] = {0}, in[8];
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  CHECK_EQ(MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD), MPI_ERR_TOPOLOGY);
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

/* Displacements that are addresses. */
static void from_bottom(void) {
  int dims[1] = {ranks}, periods[1] = {1}, mine[2] = {rank, rank + 100}, theirs[2] = {-1, -1};
  const int ones[2] = {1, 1};
  MPI_Comm ring;
  OK(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &ring));
  MPI_Aint from[2], to[2];
  const MPI_Datatype types[2] = {MPI_INT, MPI_INT};
  for (int i = 0; i < 2; i++) {
    OK(MPI_Get_address(&mine[i], &from[i]));
    OK(MPI_Get_address(&theirs[i], &to[i]));
  }
  OK(MPI_Neighbor_alltoallw(MPI_BOTTOM, ones, from, types, MPI_BOTTOM, ones, to, types, ring));
  CHECK_EQ(theirs[0], (rank + ranks - 1) % ranks + 100);
  CHECK_EQ(theirs[1], (rank + 1) % ranks);
  OK(MPI_Comm_free(&ring));
}

int main(int argc, char** argv) {
  begin("coll_neighbours", &argc, &argv);
  for (int mode = 0; mode < mode_count; mode++) {
    on_a_row(0, mode);
    on_a_row(1, mode);
    on_a_graph(mode);
    if (is_strict()) on_a_distributed_graph(mode);
  }
  from_bottom();
  without_topology();
  return finish();
}
