#include <algorithm>
#include <span>
#include <vector>

#include "coll/api.hpp"
#include "coll/comm_create.hpp"
#include "coll/movement.hpp"
#include "runtime/arguments.hpp"

// MPI 3.1, 7.5.4: distributed graphs.
using namespace llamada::mpi;

namespace {

int unweighted, weights_empty;

/// An edge as one member describes it, for the two at its ends.
struct Edge {
  int source, destination, weight;
};

bool gives_weights(const int* weights) { return weights != MPI_UNWEIGHTED; }

int check_ranks(Communicator* communicator, int count, const int* ranks, const char* what) {
  if (int code = check_count(communicator, count, what)) return code;
  if (count == 0) return MPI_SUCCESS;
  if (int code = check_pointer(communicator, ranks, what)) return code;
  for (int index = 0; index < count; ++index)
    if (ranks[index] < 0 || ranks[index] >= communicator->size())
      return detail::bad_rank(communicator, ranks[index], what);
  return MPI_SUCCESS;
}

int check_weights(Communicator* communicator, int count, const int* weights) {
  if (!gives_weights(weights) || count == 0) return MPI_SUCCESS;
  if (weights == MPI_WEIGHTS_EMPTY)
    return report(communicator, MPI_ERR_ARG, "MPI_WEIGHTS_EMPTY stands for the weights of no edges");
  return check_pointer(communicator, weights, "list of weights");
}

std::vector<int> weights_of(int count, const int* weights) {
  if (!gives_weights(weights)) return std::vector<int>(static_cast<std::size_t>(count), 1);
  return count == 0 ? std::vector<int>() : std::vector<int>(weights, weights + count);
}

int give(Communicator& communicator, DistributedGraph graph, MPI_Comm* new_comm) {
  auto made = split(communicator, 0, communicator.rank());
  if (!made) return report(&communicator, made.error());
  (*made)->set_topology(std::move(graph));
  *new_comm = (*made)->handle();
  return MPI_SUCCESS;
}

/// What all members describe, in the order of their ranks.
int gather_edges(Communicator& communicator, const std::vector<Edge>& own, std::vector<Edge>& all) {
  using coll::Data;
  std::vector<int> counts(static_cast<std::size_t>(communicator.size()));
  const int rank = communicator.rank();
  counts[static_cast<std::size_t>(rank)] = static_cast<int>(own.size());
  const auto gather = [&](const std::vector<Data>& parts) {
    return coll::perform(communicator, [&](coll::Channel& channel, coll::Waiter& waiter) {
      return coll::allgather(channel, waiter, parts[static_cast<std::size_t>(rank)], parts);
    });
  };
  std::vector<Data> parts;
  for (int& count : counts) parts.push_back(Data::of(std::as_bytes(std::span(&count, 1))));
  if (int code = gather(parts)) return code;
  std::size_t total = 0, own_place = 0;
  for (std::size_t member = 0; member < counts.size(); ++member) {
    if (member == static_cast<std::size_t>(rank)) own_place = total;
    total += static_cast<std::size_t>(counts[member]);
  }
  all.resize(total);
  std::copy(own.begin(), own.end(), all.begin() + static_cast<std::ptrdiff_t>(own_place));
  parts.clear();
  std::size_t place = 0;
  for (const int count : counts) {
    parts.push_back(Data::of(std::as_bytes(std::span(all).subspan(place, static_cast<std::size_t>(count)))));
    place += static_cast<std::size_t>(count);
  }
  return gather(parts);
}

void put(std::span<const int> from, int room, int* to) {
  const std::size_t count = std::min(from.size(), static_cast<std::size_t>(std::max(room, 0)));
  std::copy_n(from.begin(), count, to);
}

int find_graph(MPI_Comm comm, Communicator*& communicator, const DistributedGraph*& graph) {
  if (int code = find_communicator(comm, communicator)) return code;
  graph = communicator->distributed_graph();
  if (graph) return MPI_SUCCESS;
  return report(communicator, MPI_ERR_TOPOLOGY,
                fmt::format("{} has no distributed graph topology", communicator->description()));
}

}  // namespace

int* const MPI_UNWEIGHTED = &unweighted;
int* const MPI_WEIGHTS_EMPTY = &weights_empty;

LLAMADA_MPI_FUNCTION(Dist_graph_create)
int PMPI_Dist_graph_create(MPI_Comm comm, int source_count, const int sources[], const int degrees[],
                           const int destinations[], const int weights[], MPI_Info, int, MPI_Comm* new_comm) {
  LLAMADA_MPI_ENTER(Dist_graph_create);
  Communicator* communicator = nullptr;
  if (int code = find_intracommunicator(comm, communicator)) return code;
  if (int code = check_pointer(communicator, new_comm, "new communicator")) return code;
  if (int code = check_ranks(communicator, source_count, sources, "source")) return code;
  int edge_count = 0;
  for (int index = 0; index < source_count; ++index) {
    if (int code = check_pointer(communicator, degrees, "list of degrees")) return code;
    if (int code = check_count(communicator, degrees[index], "degree")) return code;
    edge_count += degrees[index];
  }
  if (int code = check_ranks(communicator, edge_count, destinations, "destination")) return code;
  if (int code = check_weights(communicator, edge_count, weights)) return code;

  const std::vector<int> own_weights = weights_of(edge_count, weights);
  std::vector<Edge> own, all;
  for (int index = 0, edge = 0; index < source_count; ++index)
    for (int count = 0; count < degrees[index]; ++count, ++edge)
      own.push_back({sources[index], destinations[edge], own_weights[static_cast<std::size_t>(edge)]});
  if (int code = gather_edges(*communicator, own, all)) return code;
  DistributedGraph graph;
  graph.weighted = gives_weights(weights);
  for (const Edge& edge : all) {
    if (edge.destination == communicator->rank()) {
      graph.sources.push_back(edge.source);
      graph.source_weights.push_back(edge.weight);
    }
    if (edge.source == communicator->rank()) {
      graph.destinations.push_back(edge.destination);
      graph.destination_weights.push_back(edge.weight);
    }
  }
  return give(*communicator, std::move(graph), new_comm);
}

LLAMADA_MPI_FUNCTION(Dist_graph_create_adjacent)
int PMPI_Dist_graph_create_adjacent(MPI_Comm comm, int in_degree, const int sources[],
                                    const int source_weights[], int out_degree, const int destinations[],
                                    const int destination_weights[], MPI_Info, int, MPI_Comm* new_comm) {
  LLAMADA_MPI_ENTER(Dist_graph_create_adjacent);
  Communicator* communicator = nullptr;
  if (int code = find_intracommunicator(comm, communicator)) return code;
  if (int code = check_pointer(communicator, new_comm, "new communicator")) return code;
  if (int code = check_ranks(communicator, in_degree, sources, "source")) return code;
  if (int code = check_ranks(communicator, out_degree, destinations, "destination")) return code;
  if (int code = check_weights(communicator, in_degree, source_weights)) return code;
  if (int code = check_weights(communicator, out_degree, destination_weights)) return code;
  DistributedGraph graph;
  if (in_degree > 0) graph.sources.assign(sources, sources + in_degree);
  if (out_degree > 0) graph.destinations.assign(destinations, destinations + out_degree);
  graph.source_weights = weights_of(in_degree, source_weights);
  graph.destination_weights = weights_of(out_degree, destination_weights);
  graph.weighted = gives_weights(source_weights) && gives_weights(destination_weights);
  return give(*communicator, std::move(graph), new_comm);
}

LLAMADA_MPI_FUNCTION(Dist_graph_neighbors_count)
int PMPI_Dist_graph_neighbors_count(MPI_Comm comm, int* in_degree, int* out_degree, int* weighted) {
  LLAMADA_MPI_ENTER(Dist_graph_neighbors_count);
  Communicator* communicator = nullptr;
  const DistributedGraph* graph = nullptr;
  if (int code = find_graph(comm, communicator, graph)) return code;
  for (const int* result : {in_degree, out_degree, weighted})
    if (int code = check_pointer(communicator, result, "result")) return code;
  *in_degree = static_cast<int>(graph->sources.size());
  *out_degree = static_cast<int>(graph->destinations.size());
  *weighted = graph->weighted;
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Dist_graph_neighbors)
int PMPI_Dist_graph_neighbors(MPI_Comm comm, int in_degree_max, int sources[], int source_weights[],
                              int out_degree_max, int destinations[], int destination_weights[]) {
  LLAMADA_MPI_ENTER(Dist_graph_neighbors);
  Communicator* communicator = nullptr;
  const DistributedGraph* graph = nullptr;
  if (int code = find_graph(comm, communicator, graph)) return code;
  put(graph->sources, in_degree_max, sources);
  put(graph->destinations, out_degree_max, destinations);
  if (!graph->weighted) return MPI_SUCCESS;
  if (gives_weights(source_weights)) put(graph->source_weights, in_degree_max, source_weights);
  if (gives_weights(destination_weights))
    put(graph->destination_weights, out_degree_max, destination_weights);
  return MPI_SUCCESS;
}
