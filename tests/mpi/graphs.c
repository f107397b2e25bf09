/* Graph topologies and distributed graphs (MPI 3.1, 7.5.3 and 7.5.4): a ring in which each rank knows the
 * next. */
#include "check.h"

static int next, before;

static void graph(void) {
  MPI_Comm comm, copy;
  int index[16], edges[32], nodes, edge_count, kind, value, neighbors[2];
  for (int i = 0; i < ranks; i++) {
    index[i] = 2 * (i + 1);
    edges[2 * i] = (i + 1) % ranks;
    edges[2 * i + 1] = (i + ranks - 1) % ranks;
  }
  OK(MPI_Graph_create(MPI_COMM_WORLD, ranks, index, edges, 0, &comm));
  OK(MPI_Comm_dup(comm, &copy));
  OK(MPI_Topo_test(copy, &kind));
  CHECK_EQ(kind, MPI_GRAPH);
  OK(MPI_Graphdims_get(copy, &nodes, &edge_count));
  CHECK_EQ(nodes, ranks);
  CHECK_EQ(edge_count, 2 * ranks);
  memset(index, 0, sizeof index);
  memset(edges, 0, sizeof edges);
  OK(MPI_Graph_get(copy, ranks, 2 * ranks, index, edges));
  CHECK_EQ(index[ranks - 1], 2 * ranks);
  CHECK_EQ(edges[2 * rank], next);
  OK(MPI_Graph_neighbors_count(copy, rank, &value));
  CHECK_EQ(value, 2);
  OK(MPI_Graph_neighbors(copy, rank, 2, neighbors));
  CHECK_EQ(neighbors[0], next);
  CHECK_EQ(neighbors[1], before);
  OK(MPI_Graph_map(MPI_COMM_WORLD, ranks, index, edges, &value));
  CHECK(value >= 0 && value < ranks);
  if (is_strict()) {
    OK(MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN));
    CHECK_EQ(MPI_Graph_neighbors(copy, ranks, 2, neighbors), MPI_ERR_RANK);
    CHECK_EQ(MPI_Cartdim_get(copy, &value), MPI_ERR_TOPOLOGY);
  }
  OK(MPI_Comm_free(&copy));
  OK(MPI_Comm_free(&comm));
}

/* The last rank is not a node. */
static void smaller_graph(void) {
  MPI_Comm comm;
  int index[16], edges[16];
  for (int i = 0; i < ranks - 1; i++) {
    index[i] = i + 1;
    edges[i] = i;
  }
  OK(MPI_Graph_create(MPI_COMM_WORLD, ranks - 1, index, edges, 1, &comm));
  CHECK_EQ(comm == MPI_COMM_NULL, rank == ranks - 1);
  if (comm != MPI_COMM_NULL) OK(MPI_Comm_free(&comm));
}

static void check_ring(MPI_Comm comm, int weighted) {
  int in, out, has_weights, kind, source, destination, source_weight, destination_weight;
  OK(MPI_Topo_test(comm, &kind));
  CHECK_EQ(kind, MPI_DIST_GRAPH);
  OK(MPI_Dist_graph_neighbors_count(comm, &in, &out, &has_weights));
  CHECK_EQ(in, 1);
  CHECK_EQ(out, 1);
  CHECK_EQ(has_weights != 0, weighted);
  OK(MPI_Dist_graph_neighbors(comm, 1, &source, weighted ? &source_weight : MPI_UNWEIGHTED, 1, &destination,
                              weighted ? &destination_weight : MPI_UNWEIGHTED));
  CHECK_EQ(source, before);
  CHECK_EQ(destination, next);
  if (!weighted) return;
  CHECK_EQ(source_weight, 10 * before);
  CHECK_EQ(destination_weight, 10 * rank);
}

static void distributed(void) {
  MPI_Comm comm;
  const int weight = 10 * rank, weight_before = 10 * before, one = 1;
  OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, &weight_before, 1, &next, &weight,
                                    MPI_INFO_NULL, 0, &comm));
  check_ring(comm, 1);
  OK(MPI_Comm_free(&comm));
  /* Each describes the edge of the rank before. */
  OK(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &before, &one, &rank, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm));
  check_ring(comm, 0);
  OK(MPI_Comm_free(&comm));
  OK(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &before, &one, &rank, &weight_before, MPI_INFO_NULL, 0, &comm));
  check_ring(comm, 1);
  OK(MPI_Comm_free(&comm));
  /* Rank 0 describes all; the others nothing. */
  int sources[16], degrees[16], destinations[16];
  for (int i = 0; i < ranks; i++) {
    sources[i] = i;
    degrees[i] = 1;
    destinations[i] = (i + 1) % ranks;
  }
  OK(MPI_Dist_graph_create(MPI_COMM_WORLD, rank == 0 ? ranks : 0, sources, degrees, destinations,
                           MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm));
  check_ring(comm, 0);
  OK(MPI_Comm_free(&comm));
}

int main(int argc, char** argv) {
  chapter = "graphs";
  OK(MPI_Init(&argc, &argv));
  OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  OK(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
  next = (rank + 1) % ranks;
  before = (rank + ranks - 1) % ranks;
  graph();
  smaller_graph();
  distributed();
  OK(MPI_Barrier(MPI_COMM_WORLD));
  if (rank == 0) printf("ok %s\n", chapter);
  OK(MPI_Finalize());
  return 0;
}
