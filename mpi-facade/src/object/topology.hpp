#pragma once

#include <span>
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

/// MPI_Dims_create (7.5.2): fills the entries that are 0 so that the product is `node_count`, as close to
/// each other as possible and in non-increasing order. invalid_argument: a negative entry, or node_count is
/// no multiple of the rest.
Status fill_dimensions(int node_count, std::span<int> dimensions);

}  // namespace llamada::mpi
