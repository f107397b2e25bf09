#include "coll/neighbourhood.hpp"

#include <algorithm>

#include "runtime/arguments.hpp"

namespace llamada::mpi::coll {
namespace {

using Edge = Neighbours::Edge;

void add_in_order(std::vector<Edge>& edges, std::span<const int> members) {
  for (int member : members) edges.push_back({member, static_cast<int>(edges.size())});
}

void add_grid(Neighbours& neighbours, const CartesianTopology& grid, int rank) {
  for (int direction = 0; direction < grid.dimension_count(); ++direction) {
    for (int displacement : {-1, 1}) {
      const int member = grid.neighbour(rank, direction, displacement);
      const int place = static_cast<int>(neighbours.sources.size());
      neighbours.destinations.push_back({member, place});
      // What comes from one side was given towards the other: it matters where both are the same member.
      neighbours.sources.push_back({member, place ^ 1});
    }
  }
}

}  // namespace

int Neighbours::find(Communicator& communicator) {
  const int rank = communicator.rank();
  if (const auto* grid = communicator.topology()) {
    add_grid(*this, *grid, rank);
  } else if (const auto* graph = communicator.graph()) {
    add_in_order(sources, graph->neighbours(rank));
    add_in_order(destinations, graph->neighbours(rank));
  } else if (const auto* distributed = communicator.distributed_graph()) {
    add_in_order(sources, distributed->sources);
    add_in_order(destinations, distributed->destinations);
  } else {
    return report(&communicator, MPI_ERR_TOPOLOGY, "the communicator has no topology, and so no neighbours");
  }
  return MPI_SUCCESS;
}

void NeighbourExchange::begin() {
  channel_.begin(Kind::neighbour);
  add_sendings();
  add_sources();
}

void NeighbourExchange::add_sendings() {
  const auto& edges = neighbours_.destinations;
  for (std::size_t edge = 0; edge < edges.size(); ++edge) {
    const int member = edges[edge].member;
    if (member == MPI_PROC_NULL || member == channel_.self()) continue;
    // Pieces for the same member go on counting.
    std::uint32_t first_piece = 0;
    for (std::size_t before = 0; before < edge; ++before)
      if (edges[before].member == member)
        first_piece +=
            piece_count(contributions_[static_cast<int>(before)].bytes, channel_.piece_bytes_max());
    sendings_.emplace_back(channel_, contributions_[static_cast<int>(edge)], member,
                           channel_.piece_bytes_max(), Piece::data(first_piece));
  }
}

void NeighbourExchange::add_sources() {
  const auto& edges = neighbours_.sources;
  std::vector<int> order;
  for (std::size_t edge = 0; edge < edges.size(); ++edge)
    if (edges[edge].member != MPI_PROC_NULL) order.push_back(static_cast<int>(edge));
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    const Edge &one = edges[static_cast<std::size_t>(a)], &other = edges[static_cast<std::size_t>(b)];
    return one.member != other.member ? one.member < other.member : one.order < other.order;
  });
  for (int edge : order) {
    const int member = edges[static_cast<std::size_t>(edge)].member;
    if (sources_.empty() || sources_.back().member != member) sources_.push_back({member, {}, 0, {}});
    sources_.back().edges.push_back(edge);
  }
  const auto own = std::find_if(sources_.begin(), sources_.end(),
                                [&](const Source& source) { return source.member == channel_.self(); });
  if (own == sources_.end()) return;
  copy_own(*own);
  sources_.erase(own);
}

void NeighbourExchange::copy_own(const Source& own) {
  std::size_t next = 0;
  for (std::size_t edge = 0; edge < neighbours_.destinations.size() && next < own.edges.size(); ++edge)
    if (neighbours_.destinations[edge].member == channel_.self())
      coll::copy_own(channel_, contributions_[static_cast<int>(edge)], results_[own.edges[next++]]);
}

bool NeighbourExchange::receive(Source& source) {
  for (; source.receiving.step(); ++source.next) {
    if (source.next == source.edges.size()) return true;
    source.receiving = Receiving(channel_, results_[source.edges[source.next]], source.member,
                                 source.receiving.next_piece());
  }
  return false;
}

bool NeighbourExchange::step() {
  while (sent_ < sendings_.size() && sendings_[sent_].step()) ++sent_;
  for (std::size_t i = 0; i < sources_.size();) {
    if (receive(sources_[i])) {
      sources_[i] = std::move(sources_.back());
      sources_.pop_back();
    } else {
      ++i;
    }
  }
  return sources_.empty() && sent_ == sendings_.size();
}

}  // namespace llamada::mpi::coll
