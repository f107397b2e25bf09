#include "coll/accumulator.hpp"

#include "llamada/base/copy.hpp"

namespace llamada::mpi::coll {

void Accumulator::start(std::span<const std::byte> packed) {
  count_ = packed.size() / type_.size();
  value_ = load(scratches_[current_], packed);
}

void Accumulator::fold(std::span<const std::byte> packed) {
  if (folds_in_place()) {
    // Straight from the log. (A program's function gets a copy: it might write to its first operand.)
    operation_.apply(packed.data() - type_.true_lower_bound(), value_, count_, type_);
    return;
  }
  std::byte* next = load(scratches_[1 - current_], packed);
  operation_.apply(value_, next, count_, type_);
  current_ = 1 - current_;
  value_ = next;
}

std::span<const std::byte> Accumulator::result() {
  if (type_.is_contiguous()) return {type_.data(value_), packed_bytes()};
  std::byte* packed = packed_.at_least(packed_bytes());
  type_.pack(value_, count_, 0, {packed, packed_bytes()});
  return {packed, packed_bytes()};
}

/// The elements in memory; what is given back is where the first one's address 0 is.
std::byte* Accumulator::load(Scratch& scratch, std::span<const std::byte> packed) {
  std::byte* base = scratch.at_least(type_.span_bytes(count_)) - type_.span_begin(count_);
  if (type_.is_contiguous())
    copy_bytes(type_.data(base), packed.data(), packed.size());
  else
    type_.unpack(packed, 0, base, count_);
  return base;
}

}  // namespace llamada::mpi::coll
