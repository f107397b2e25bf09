#pragma once

#include <span>
#include <variant>
#include <vector>

#include "llamada/base/result.hpp"

namespace llamada::mpi {

/// A Cartesian grid of ranks, in row-major order (MPI 3.1, 7.5).
class CartesianTopology {
 public:
  CartesianTopology(std::vector<int> dimensions, std::vector<bool> periods)
      : dimensions_(std::move(dimensions)), periods_(std::move(periods)) {}

  int dimension_count() const { return static_cast<int>(dimensions_.size()); }
  int size() const;
  int dimension(int index) const { return dimensions_[static_cast<std::size_t>(index)]; }
  bool is_periodic(int index) const { return periods_[static_cast<std::size_t>(index)]; }

  std::vector<int> coordinates(int rank) const;
  /// Coordinates outside are wrapped where the grid is periodic; elsewhere they are invalid_argument.
  Result<int> rank(std::span<const int> coordinates) const;
  /// The rank `displacement` steps along `direction`; MPI_PROC_NULL beyond an edge.
  int neighbour(int rank, int direction, int displacement) const;

 private:
  std::vector<int> dimensions_;
  std::vector<bool> periods_;
};

/// A graph that all members know whole (7.5.3): the neighbours of node i are edges[index[i - 1]] to
/// edges[index[i] - 1].
struct GraphTopology {
  std::vector<int> index;
  std::vector<int> edges;

  int node_count() const { return static_cast<int>(index.size()); }
  std::span<const int> neighbours(int node) const {
    const int begin = node == 0 ? 0 : index[static_cast<std::size_t>(node) - 1];
    const int end = index[static_cast<std::size_t>(node)];
    return std::span(edges).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
  }
};

/// What one member of a distributed graph knows (7.5.4): the edges that end and that begin at it, with their
/// weights.
struct DistributedGraph {
  std::vector<int> sources, source_weights;
  std::vector<int> destinations, destination_weights;
  bool weighted = false;
};

/// A communicator's topology, if it has one.
using Topology = std::variant<std::monostate, CartesianTopology, GraphTopology, DistributedGraph>;

/// MPI_Dims_create (7.5.2): fills the entries that are 0 so that the product is `node_count`, as close to
/// each other as possible and in non-increasing order. invalid_argument: a negative entry, or node_count is
/// no multiple of the rest.
Status fill_dimensions(int node_count, std::span<int> dimensions);

}  // namespace llamada::mpi
