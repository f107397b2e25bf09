#include "coll/accumulator.hpp"

#include <utility>

#include "llamada/base/copy.hpp"

namespace llamada::mpi::coll {

void Accumulator::start(std::span<const std::byte> packed) {
  count_ = packed.size() / type_.size();
  load(value_, packed);
}

void Accumulator::fold(std::span<const std::byte> packed) {
  if (operation_.is_predefined() && operation_.commutes() && type_.is_contiguous()) {
    // Straight from the log. (A program's function gets a copy: it might write to its first operand.)
    operation_.apply(packed.data() - type_.true_lower_bound(), base(value_), count_, type_);
    return;
  }
  load(next_, packed);
  operation_.apply(base(value_), base(next_), count_, type_);
  std::swap(value_, next_);
}

std::span<const std::byte> Accumulator::result() {
  if (type_.is_contiguous()) return {type_.data(base(value_)), packed_bytes()};
  packed_.resize(packed_bytes());
  type_.pack(base(value_), count_, 0, packed_);
  return packed_;
}

void Accumulator::load(std::vector<std::byte>& buffer, std::span<const std::byte> packed) {
  std::size_t span = type_.span_bytes(count_);
  if (buffer.size() < span) buffer.resize(span);
  if (type_.is_contiguous())
    copy_bytes(type_.data(base(buffer)), packed.data(), packed.size());
  else
    type_.unpack(packed, 0, base(buffer), count_);
}

}  // namespace llamada::mpi::coll
