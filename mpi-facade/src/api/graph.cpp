#include <algorithm>
#include <span>
#include <vector>

#include "coll/comm_create.hpp"
#include "runtime/arguments.hpp"

// MPI 3.1, 7.5.3: graph topologies.
using namespace llamada::mpi;

namespace {

int find_graph(MPI_Comm comm, Communicator*& communicator, const GraphTopology*& graph) {
  if (int code = find_communicator(comm, communicator)) return code;
  graph = communicator->graph();
  if (graph) return MPI_SUCCESS;
  return report(communicator, MPI_ERR_TOPOLOGY,
                fmt::format("{} has no graph topology", communicator->description()));
}

int check_graph(Communicator* communicator, int node_count, const int* index, const int* edges,
                GraphTopology& graph) {
  if (node_count < 0 || node_count > communicator->size())
    return report(communicator, MPI_ERR_ARG,
                  fmt::format("a graph of {} nodes does not fit {} ranks", node_count, communicator->size()));
  if (node_count == 0) return MPI_SUCCESS;
  if (int code = check_pointer(communicator, index, "list of indices")) return code;
  for (int node = 0; node < node_count; ++node)
    if (index[node] < (node == 0 ? 0 : index[node - 1]))
      return report(communicator, MPI_ERR_ARG, fmt::format("index {} is less than the one before", node));
  const int edge_count = index[node_count - 1];
  if (edge_count > 0) {
    if (int code = check_pointer(communicator, edges, "list of edges")) return code;
  }
  for (int edge = 0; edge < edge_count; ++edge)
    if (edges[edge] < 0 || edges[edge] >= node_count)
      return report(
          communicator, MPI_ERR_ARG,
          fmt::format("edge {} leads to {}, which is no node of {}", edge, edges[edge], node_count));
  graph.index.assign(index, index + node_count);
  graph.edges.assign(edges, edges + edge_count);
  return MPI_SUCCESS;
}

int find_neighbours(MPI_Comm comm, int rank, Communicator*& communicator, std::span<const int>& neighbours) {
  const GraphTopology* graph = nullptr;
  if (int code = find_graph(comm, communicator, graph)) return code;
  if (rank < 0 || rank >= communicator->size()) return detail::bad_rank(communicator, rank, "rank");
  neighbours = graph->neighbours(rank);
  return MPI_SUCCESS;
}

}  // namespace

LLAMADA_MPI_FUNCTION(Graph_create)
int PMPI_Graph_create(MPI_Comm comm, int node_count, const int index[], const int edges[], int,
                      MPI_Comm* new_comm) {
  LLAMADA_MPI_ENTER(Graph_create);
  Communicator* communicator = nullptr;
  if (int code = find_intracommunicator(comm, communicator)) return code;
  if (int code = check_pointer(communicator, new_comm, "new communicator")) return code;
  GraphTopology graph;
  if (int code = check_graph(communicator, node_count, index, edges, graph)) return code;
  const int rank = communicator->rank();
  auto made = split(*communicator, rank < node_count ? 0 : MPI_UNDEFINED, rank);
  if (!made) return report(communicator, made.error());
  if (*made) (*made)->set_topology(std::move(graph));
  *new_comm = *made ? (*made)->handle() : MPI_COMM_NULL;
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Graphdims_get)
int PMPI_Graphdims_get(MPI_Comm comm, int* node_count, int* edge_count) {
  LLAMADA_MPI_ENTER(Graphdims_get);
  Communicator* communicator = nullptr;
  const GraphTopology* graph = nullptr;
  if (int code = find_graph(comm, communicator, graph)) return code;
  if (int code = check_pointer(communicator, node_count, "number of nodes")) return code;
  if (int code = check_pointer(communicator, edge_count, "number of edges")) return code;
  *node_count = graph->node_count();
  *edge_count = static_cast<int>(graph->edges.size());
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Graph_get)
int PMPI_Graph_get(MPI_Comm comm, int index_count_max, int edge_count_max, int index[], int edges[]) {
  LLAMADA_MPI_ENTER(Graph_get);
  Communicator* communicator = nullptr;
  const GraphTopology* graph = nullptr;
  if (int code = find_graph(comm, communicator, graph)) return code;
  if (index_count_max < graph->node_count() || edge_count_max < static_cast<int>(graph->edges.size()))
    return report(communicator, MPI_ERR_ARG,
                  fmt::format("there is room for {} indices and {} edges, the graph has {} and {}",
                              index_count_max, edge_count_max, graph->node_count(), graph->edges.size()));
  std::copy(graph->index.begin(), graph->index.end(), index);
  std::copy(graph->edges.begin(), graph->edges.end(), edges);
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Graph_neighbors_count)
int PMPI_Graph_neighbors_count(MPI_Comm comm, int rank, int* neighbor_count) {
  LLAMADA_MPI_ENTER(Graph_neighbors_count);
  Communicator* communicator = nullptr;
  std::span<const int> neighbours;
  if (int code = find_neighbours(comm, rank, communicator, neighbours)) return code;
  if (int code = check_pointer(communicator, neighbor_count, "number of neighbors")) return code;
  *neighbor_count = static_cast<int>(neighbours.size());
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Graph_neighbors)
int PMPI_Graph_neighbors(MPI_Comm comm, int rank, int neighbor_count_max, int neighbors[]) {
  LLAMADA_MPI_ENTER(Graph_neighbors);
  Communicator* communicator = nullptr;
  std::span<const int> neighbours;
  if (int code = find_neighbours(comm, rank, communicator, neighbours)) return code;
  if (neighbor_count_max < static_cast<int>(neighbours.size()))
    return report(communicator, MPI_ERR_ARG,
                  fmt::format("there is room for {} neighbors, rank {} has {}", neighbor_count_max, rank,
                              neighbours.size()));
  std::copy(neighbours.begin(), neighbours.end(), neighbors);
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Graph_map)
int PMPI_Graph_map(MPI_Comm comm, int node_count, const int index[], const int edges[], int* new_rank) {
  LLAMADA_MPI_ENTER(Graph_map);
  Communicator* communicator = nullptr;
  if (int code = find_intracommunicator(comm, communicator)) return code;
  if (int code = check_pointer(communicator, new_rank, "rank")) return code;
  GraphTopology graph;
  if (int code = check_graph(communicator, node_count, index, edges, graph)) return code;
  *new_rank = communicator->rank() < node_count ? communicator->rank() : MPI_UNDEFINED;
  return MPI_SUCCESS;
}
