#include "object/topology.hpp"

#include <mpi.h>

#include <algorithm>

namespace llamada::mpi {
namespace {

/// Non-increasing factors of `product`, none above `limit`, the largest as small as can be.
bool balance(int product, std::size_t count, int limit, std::vector<int>& factors) {
  if (count == 1) {
    if (product > limit) return false;
    factors.push_back(product);
    return true;
  }
  for (int factor = 1; factor <= std::min(product, limit); ++factor) {
    if (product % factor != 0) continue;
    // The others are no larger, so the product is out of reach below the root.
    double reach = 1;
    for (std::size_t index = 0; index < count; ++index) reach *= factor;
    if (reach < product) continue;
    factors.push_back(factor);
    if (balance(product / factor, count - 1, factor, factors)) return true;
    factors.pop_back();
  }
  return false;
}

}  // namespace

int CartesianTopology::size() const {
  int product = 1;
  for (const int dimension : dimensions_) product *= dimension;
  return product;
}

std::vector<int> CartesianTopology::coordinates(int rank) const {
  std::vector<int> result(dimensions_.size());
  for (std::size_t index = dimensions_.size(); index-- > 0;) {
    result[index] = rank % dimensions_[index];
    rank /= dimensions_[index];
  }
  return result;
}

Result<int> CartesianTopology::rank(std::span<const int> coordinates) const {
  int rank = 0;
  for (std::size_t index = 0; index < dimensions_.size(); ++index) {
    const int size = dimensions_[index];
    int coordinate = coordinates[index];
    if (periods_[index]) {
      coordinate = (coordinate % size + size) % size;
    } else if (coordinate < 0 || coordinate >= size) {
      return failure(Errc::invalid_argument, "coordinate {} of dimension {} is not in 0 to {}", coordinate,
                     index, size - 1);
    }
    rank = rank * size + coordinate;
  }
  return rank;
}

int CartesianTopology::neighbour(int rank, int direction, int displacement) const {
  std::vector<int> position = coordinates(rank);
  const int size = dimension(direction);
  int& coordinate = position[static_cast<std::size_t>(direction)];
  const long long moved = static_cast<long long>(coordinate) + displacement;
  if (!is_periodic(direction) && (moved < 0 || moved >= size)) return MPI_PROC_NULL;
  coordinate = static_cast<int>((moved % size + size) % size);
  return *this->rank(position);
}

Status fill_dimensions(int node_count, std::span<int> dimensions) {
  if (node_count < 1) return failure(Errc::invalid_argument, "the number of nodes is {}", node_count);
  int rest = node_count;
  std::size_t open = 0;
  for (const int dimension : dimensions) {
    if (dimension < 0) return failure(Errc::invalid_argument, "a dimension is {}", dimension);
    if (dimension == 0) {
      ++open;
    } else if (rest % dimension != 0) {
      return failure(Errc::invalid_argument, "{} nodes do not divide among the dimensions that are given",
                     node_count);
    } else {
      rest /= dimension;
    }
  }
  if (open == 0 && rest != 1) {
    return failure(Errc::invalid_argument, "the dimensions that are given do not hold {} nodes", node_count);
  }
  if (open == 0) return {};
  std::vector<int> factors;
  balance(rest, open, rest, factors);
  auto next = factors.begin();
  for (int& dimension : dimensions) {
    if (dimension == 0) dimension = *next++;
  }
  return {};
}

}  // namespace llamada::mpi
