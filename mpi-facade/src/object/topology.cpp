#include "object/topology.hpp"

#include <mpi.h>

#include <algorithm>
#include <cmath>

namespace llamada::mpi {
namespace {

/// Looks for the non-increasing factors of a product that are closest to each other: the least difference
/// between the largest and the smallest, and of equal ones the largest smallest, then the largest second
/// smallest, and so on.
class Balance {
 public:
  Balance(int product, std::size_t count) : factors_(count) {
    for (int divisor = 1; static_cast<long long>(divisor) * divisor <= product; ++divisor) {
      if (product % divisor != 0) continue;
      divisors_.push_back(divisor);
      if (divisor != product / divisor) divisors_.push_back(product / divisor);
    }
    std::sort(divisors_.begin(), divisors_.end());
    search(0, product, product);
  }
  const std::vector<int>& best() const { return best_; }

 private:
  void search(std::size_t place, int rest, int limit) {
    const std::size_t left = factors_.size() - place;
    if (left == 1) {
      if (rest > limit) return;
      factors_[place] = rest;
      return compare();
    }
    for (const int factor : divisors_) {
      if (factor > std::min(rest, limit)) return;
      if (rest % factor != 0) continue;
      // The others are no larger, so the product is out of reach below the root.
      double reach = 1;
      for (std::size_t index = 0; index < left; ++index) reach *= factor;
      if (reach < rest) continue;
      factors_[place] = factor;
      // The smallest is at most the root of what is left: worse than the best, as all larger factors are.
      if (place == 0 && !best_.empty() && spread_at_least(factor, rest / factor, left - 1) > spread(best_))
        return;
      search(place + 1, rest / factor, factor);
    }
  }
  static double spread_at_least(int largest, int rest, std::size_t count) {
    return largest - std::pow(rest, 1.0 / static_cast<double>(count)) - 1e-6;
  }
  static int spread(const std::vector<int>& factors) { return factors.front() - factors.back(); }
  void compare() {
    const bool better =
        best_.empty() || spread(factors_) < spread(best_) ||
        (spread(factors_) == spread(best_) &&
         std::lexicographical_compare(best_.rbegin(), best_.rend(), factors_.rbegin(), factors_.rend()));
    if (better) best_ = factors_;
  }

  std::vector<int> divisors_;
  std::vector<int> factors_;
  std::vector<int> best_;
};

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
  const Balance balance(rest, open);
  const std::vector<int>& factors = balance.best();
  auto next = factors.begin();
  for (int& dimension : dimensions) {
    if (dimension == 0) dimension = *next++;
  }
  return {};
}

}  // namespace llamada::mpi
