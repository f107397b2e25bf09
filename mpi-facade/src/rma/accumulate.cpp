#include "rma/accumulate.hpp"

#include <algorithm>
#include <vector>

namespace llamada::mpi::rma {
namespace {

constexpr std::size_t combined_bytes_max = 64 * 1024;

bool is_aligned(const void* address, const Datatype& basic) {
  return reinterpret_cast<std::uintptr_t>(address) % basic.layout().alignment == 0;
}

/// Elements of the basic type as the operation wants them: an array with the type's gaps, if it has any.
class Elements {
 public:
  explicit Elements(const Datatype& basic) : basic_(basic) {}

  /// Room for the packed bytes of `count` elements, to be filled before array().
  std::span<std::byte> packed(std::size_t count) {
    count_ = count;
    packed_.resize(count * basic_.size());
    return packed_;
  }
  std::byte* array() {
    if (basic_.is_contiguous()) return packed_.data();
    array_.resize(count_ * static_cast<std::size_t>(basic_.extent()));
    basic_.unpack(packed_, 0, array_.data(), count_);
    return array_.data();
  }
  /// The packed bytes of what array() has become.
  std::span<const std::byte> repacked() {
    if (!basic_.is_contiguous()) basic_.pack(array_.data(), count_, 0, packed_);
    return packed_;
  }

 private:
  const Datatype& basic_;
  std::size_t count_ = 0;
  std::vector<std::byte> packed_;
  std::vector<std::byte> array_;
};

/// Whether elements lie as the operation wants them.
bool in_place(const Datatype& type, const void* base, const Datatype& basic) {
  return type.is_contiguous() && basic.is_contiguous() && is_aligned(type.data(base), basic);
}

}  // namespace

const Datatype* basic_type_of(const Datatype& type) {
  if (type.is_predefined()) return type.size() > 0 ? &type : nullptr;
  const Datatype* common = nullptr;
  for (const auto& part : type.recipe().types) {
    if (part->size() == 0) continue;
    const Datatype* basic = basic_type_of(*part);
    if (basic == nullptr || (common != nullptr && common->handle() != basic->handle())) return nullptr;
    common = basic;
  }
  return common;
}

bool may_accumulate(MPI_Op op, const Operation& operation, const Datatype& basic) {
  if (op == MPI_REPLACE || op == MPI_NO_OP) return true;
  return operation.is_predefined() && operation.accepts(basic);
}

Status accumulate(const Operand& origin, const Target& target, MPI_Op op, const Operation& operation,
                  const Datatype& basic) {
  if (op == MPI_NO_OP) return {};
  if (op == MPI_REPLACE) return put(origin, target);
  const std::size_t elements = origin.bytes() / basic.size();
  const std::size_t step = std::max<std::size_t>(1, combined_bytes_max / basic.size());
  const bool origin_in_place = in_place(*origin.type, origin.base, basic);
  const bool target_in_place = target.direct && in_place(*target.type, target.memory(), basic);
  if (origin_in_place && target_in_place) {
    operation.apply(origin.type->data(origin.base), target.type->data(target.memory()), elements, basic);
    return {};
  }
  Elements given(basic), found(basic);
  for (std::size_t done = 0; done < elements; done += step) {
    const std::size_t count = std::min(step, elements - done);
    const std::size_t first_byte = done * basic.size();
    const std::byte* in = nullptr;
    if (origin_in_place) {
      in = origin.type->data(origin.base) + first_byte;
    } else {
      origin.type->pack(origin.base, origin.count, first_byte, given.packed(count));
      in = given.array();
    }
    if (target_in_place) {
      operation.apply(in, target.type->data(target.memory()) + first_byte, count, basic);
      continue;
    }
    if (auto fetched = fetch(target, first_byte, found.packed(count)); !fetched) return fetched;
    operation.apply(in, found.array(), count, basic);
    if (auto stored = store(target, first_byte, found.repacked()); !stored) return stored;
  }
  return {};
}

}  // namespace llamada::mpi::rma
