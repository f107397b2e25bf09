#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "object/datatype.hpp"
#include "object/operation.hpp"

namespace llamada::mpi::coll {

/// Memory that grows; a little of it needs no allocation.
class Scratch {
 public:
  std::byte* at_least(std::size_t bytes) {
    if (bytes <= sizeof(inline_)) return inline_;
    if (bytes > capacity_) {
      memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
      capacity_ = bytes;
    }
    return memory_.get();
  }

 private:
  alignas(64) std::byte inline_[256];
  std::unique_ptr<std::byte[]> memory_;
  std::size_t capacity_ = 0;
};

/// Elements being reduced, folded from the left in the order in which contributions are given: ((c0 op c1) op
/// c2) …, whatever the operation, so that the result's bits depend on that order alone (MPI 3.1, 5.9.1).
class Accumulator {
 public:
  /// Both are borrowed.
  Accumulator(const Operation& operation, const Datatype& type) : operation_(operation), type_(type) {}

  std::size_t element_bytes() const { return type_.size(); }
  /// Whether elements can be folded where they lie: a predefined operation, and elements without gaps.
  bool folds_in_place() const {
    return operation_.is_predefined() && operation_.commutes() && type_.is_contiguous();
  }
  /// Of such: folds in `packed` into the whole elements at `value`, wherever these lie.
  void fold_into(std::byte* value, std::span<const std::byte> packed) const {
    operation_.apply(packed.data() - type_.true_lower_bound(), value - type_.true_lower_bound(),
                     packed.size() / type_.size(), type_);
  }

  /// The first contribution: a packed stream of whole elements.
  void start(std::span<const std::byte> packed);
  /// A further one of the same length.
  void fold(std::span<const std::byte> packed);
  /// The packed stream of the result; valid until the next call.
  std::span<const std::byte> result();

 private:
  std::byte* load(Scratch& scratch, std::span<const std::byte> packed);
  std::size_t packed_bytes() const { return count_ * type_.size(); }

  const Operation& operation_;
  const Datatype& type_;
  std::size_t count_ = 0;
  Scratch scratches_[2];
  int current_ = 0;  // which of the two has the value
  std::byte* value_ = nullptr;
  Scratch packed_;
};

}  // namespace llamada::mpi::coll
