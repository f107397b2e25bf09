/* Topologies and the collectives of neighbours. */
#include "phases.h"

enum { neighbours_most = 2 * ranks_most, block_most = 700 };

typedef struct {
  MPI_Comm comm;
  int sources, targets, source[neighbours_most], target[neighbours_most];
} Topology;

/* Two neighbours in each direction; without wrapping round in a direction of two, where both are the same. */
static Topology make_grid(void) {
  Topology grid = {.comm = MPI_COMM_NULL};
  int dims[2] = {0, 0}, periods[2], many = 1 + (int)draw(2);
  MPI_Dims_create(ranks, many, dims);
  for (int i = 0; i < many; i++) periods[i] = dims[i] > 2 && draw(2);
  MPI_Cart_create(MPI_COMM_WORLD, many, dims, periods, (int)draw(2), &grid.comm);
  for (int i = 0; i < many; i++) {
    int* pair = &grid.source[grid.sources];
    MPI_Cart_shift(grid.comm, i, 1, &pair[0], &pair[1]);
    grid.sources += 2;
  }
  grid.targets = grid.sources;
  memcpy(grid.target, grid.source, sizeof grid.source);
  return grid;
}

/* Edges between some, also from a rank to itself; each rank in an order of its own. */
static Topology make_graph(void) {
  Topology graph = {.comm = MPI_COMM_NULL};
  int edge[ranks_most][ranks_most], order[ranks_most];
  for (int i = 0; i < ranks; i++)
    for (int j = 0; j < ranks; j++) edge[i][j] = draw(2) == 0;
  for (int i = 0; i < ranks; i++) order[i] = i;
  shuffle(order, ranks);
  for (int i = 0; i < ranks; i++)
    if (edge[order[i]][rank]) graph.source[graph.sources++] = order[i];
  shuffle(order, ranks);
  for (int i = 0; i < ranks; i++)
    if (edge[rank][order[i]]) graph.target[graph.targets++] = order[i];
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, graph.sources, graph.source, MPI_UNWEIGHTED, graph.targets,
                                 graph.target, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph.comm);
  int sources, targets, weighted;
  MPI_Dist_graph_neighbors_count(graph.comm, &sources, &targets, &weighted);
  CHECK(sources == graph.sources && targets == graph.targets && !weighted);
  return graph;
}

typedef enum { all_same, all_same_v, all_other, all_other_v, all_other_w, exchanges } Exchange;
static const char* const names[] = {"neighbor_allgather", "neighbor_allgatherv", "neighbor_alltoall",
                                    "neighbor_alltoallv", "neighbor_alltoallw"};

/* All that a nonblocking one needs until it has completed. */
typedef struct {
  Exchange exchange;
  Topology on;
  int sent[neighbours_most], received[neighbours_most], sent_at[neighbours_most],
      received_at[neighbours_most];
  MPI_Aint sent_bytes[neighbours_most], received_bytes[neighbours_most];
  MPI_Datatype types[neighbours_most];
  Operation* operation;
  int sending[neighbours_most * block_most];
} Job;

static int is_other(const Job* job) { return job->exchange >= all_other; }
static int varies(const Job* job) {
  return job->exchange == all_same_v || job->exchange == all_other_v || job->exchange == all_other_w;
}

/* Who is meant by a neighbour's number, in MPI_COMM_WORLD. */
static int in_world(const Members* where, int neighbour) {
  return neighbour == MPI_PROC_NULL ? -1 : where->world[neighbour];
}

static uint64_t base_between(const Job* job, int from, int to) {
  return value_of(from, is_other(job) ? to : 0, 0);
}

static int count_between(const Job* job, int from, int to) {
  uint64_t base = varies(job) ? base_between(job, from, to) : phase.base;
  return (int)(base % 3 ? base % 40 : base % block_most);
}

static void lay_out(Job* job, const Members* where) {
  Topology* on = &job->on;
  int at = 0;
  for (int i = 0; i < on->targets; i++) {
    int to = in_world(where, on->target[i]);
    job->sent[i] = to < 0 && varies(job) ? 0 : count_between(job, rank, to < 0 ? 0 : to);
    job->sent_at[i] = i * block_most;
    if (!varies(job)) job->sent_at[i] = i * job->sent[i];
    job->sent_bytes[i] = job->sent_at[i] * 4;
    if (to >= 0 || !is_other(job))
      write_bytes((unsigned char*)(job->sending + job->sent_at[i]), base_between(job, rank, to), 0,
                  (size_t)job->sent[i] * 4);
  }
  if (!is_other(job)) write_bytes((unsigned char*)job->sending, value_of(rank, 0, 0), 0, block_most * 4);
  for (int i = 0; i < on->sources; i++) {
    int from = in_world(where, on->source[i]);
    job->received[i] = from < 0 && varies(job) ? 0 : count_between(job, from < 0 ? 0 : from, rank);
    at += varies(job) ? (int)own(3) : 0;
    job->received_at[i] = at;
    job->received_bytes[i] = at * 4;
    at += job->received[i];
    job->types[i] = MPI_INT;
  }
  for (int i = 0; i < neighbours_most; i++) job->types[i] = MPI_INT;
  Operation* operation = job->operation;
  operation->span = (size_t)at * 4;
  operation->memory = blank(operation->span);
  operation->image = blank(operation->span);
  for (int i = 0; i < on->sources; i++) {
    int from = in_world(where, on->source[i]);
    if (from >= 0)
      write_bytes(operation->image + job->received_bytes[i], base_between(job, from, rank), 0,
                  (size_t)job->received[i] * 4);
  }
}

static void call(Job* job, Mode mode) {
  MPI_Request* request = &job->operation->request;
  MPI_Comm comm = job->on.comm;
  void *sending = job->sending, *receiving = job->operation->memory;
  int count = count_between(job, 0, 0), mine = count_between(job, rank, 0);
  switch (job->exchange) {
    case all_same:
      CALL(Neighbor_allgather, neighbor_allgather, sending, count, MPI_INT, receiving, count, MPI_INT, comm);
      break;
    case all_same_v:
      CALL(Neighbor_allgatherv, neighbor_allgatherv, sending, mine, MPI_INT, receiving, job->received,
           job->received_at, MPI_INT, comm);
      break;
    case all_other:
      CALL(Neighbor_alltoall, neighbor_alltoall, sending, count, MPI_INT, receiving, count, MPI_INT, comm);
      break;
    case all_other_v:
      CALL(Neighbor_alltoallv, neighbor_alltoallv, sending, job->sent, job->sent_at, MPI_INT, receiving,
           job->received, job->received_at, MPI_INT, comm);
      break;
    default:
      CALL(Neighbor_alltoallw, neighbor_alltoallw, sending, job->sent, job->sent_bytes, job->types, receiving,
           job->received, job->received_bytes, job->types, comm);
  }
}

static void exchange_on(Topology on, const Members* where) {
  Mode mode = draw_mode();
  Job* job = allocate(sizeof *job);
  job->exchange = (Exchange)draw(exchanges);
  if (is_mpich && job->exchange == all_other_w)
    job->exchange = all_other_v; /* MPICH 4.0 loses some of its blocks */
  job->on = on;
  job->operation = new_operation();
  job->operation->more = job;
  job->operation->name = names[job->exchange];
  if (phase.certain) job->operation->counts = phase.base;
  lay_out(job, where);
  call(job, mode);
  if (mode == nonblocking)
    settle(&job->operation, 1); /* its communicator is freed soon, which is not MPICH's strength */
  else
    see_through(job->operation, mode, NULL);
}

void neighbours(void) {
  Topology on = draw(2) ? make_grid() : make_graph();
  int exchanges = 1 + (int)draw(3);
  if (on.comm == MPI_COMM_NULL) return;
  Members where = members_of(on.comm);
  for (int i = 0; i < exchanges; i++) exchange_on(on, &where);
  MPI_Comm_free(&on.comm);
}
