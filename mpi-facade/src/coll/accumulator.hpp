#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "object/datatype.hpp"
#include "object/operation.hpp"

namespace llamada::mpi::coll {

/// Elements being reduced, folded from the left in the order in which contributions are given: ((c0 op c1) op
/// c2) …, whatever the operation, so that the result's bits depend on that order alone (MPI 3.1, 5.9.1).
class Accumulator {
 public:
  /// Both are borrowed.
  Accumulator(const Operation& operation, const Datatype& type) : operation_(operation), type_(type) {}

  std::size_t element_bytes() const { return type_.size(); }
  /// The first contribution: a packed stream of whole elements.
  void start(std::span<const std::byte> packed);
  /// A further one of the same length.
  void fold(std::span<const std::byte> packed);
  /// The packed stream of the result; valid until the next call.
  std::span<const std::byte> result();

 private:
  void load(std::vector<std::byte>& buffer, std::span<const std::byte> packed);
  std::byte* base(std::vector<std::byte>& buffer) const { return buffer.data() - type_.span_begin(count_); }
  std::size_t packed_bytes() const { return count_ * type_.size(); }

  const Operation& operation_;
  const Datatype& type_;
  std::size_t count_ = 0;
  std::vector<std::byte> value_;
  std::vector<std::byte> next_;
  std::vector<std::byte> packed_;
};

}  // namespace llamada::mpi::coll
