#pragma once

#include <cmath>
#include <cstring>
#include <span>
#include <vector>

#include "object/type_builder.hpp"

/// What reductions are tried with.
namespace llamada::mpi::coll::testing {

/// The predefined types; made before the threads.
struct Types {
  HandleTable<Datatype, ObjectKind::datatype> table;
  Types() { add_predefined_types(table); }
  const Datatype& operator[](MPI_Datatype handle) { return *table.find(handle); }
};

/// Numbers whose sum depends on the order of addition.
inline std::vector<double> numbers(int rank, std::size_t count) {
  std::vector<double> made(count);
  for (std::size_t i = 0; i < count; ++i)
    made[i] = std::sin(static_cast<double>(i + 1) * (rank + 1)) *
              std::pow(10.0, (rank * 5 + static_cast<int>(i % 7)) % 13);
  return made;
}

/// Of the first so many ranks, in their order.
inline std::vector<double> summed(int ranks, std::size_t count) {
  auto sum = numbers(0, count);
  for (int rank = 1; rank < ranks; ++rank) {
    const auto next = numbers(rank, count);
    for (std::size_t i = 0; i < count; ++i) sum[i] = next[i] + sum[i];
  }
  return sum;
}

inline bool same_bits(std::span<const double> a, std::span<const double> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

}  // namespace llamada::mpi::coll::testing
