#include "object/datatype.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "llamada/base/check.hpp"
#include "llamada/base/copy.hpp"

namespace llamada::mpi {
namespace {

/// Up to 32 bytes, by two copies of a fixed size that overlap.
template <std::size_t size>
void copy_ends(std::byte* to, const std::byte* from, std::size_t length) {
  std::array<std::byte, size> first, last;
  std::memcpy(first.data(), from, size);
  std::memcpy(last.data(), from + length - size, size);
  std::memcpy(to, first.data(), size);
  std::memcpy(to + length - size, last.data(), size);
}

/// Blocks are short more often than not, and then a call takes longer than the copy.
void copy_block(std::byte* to, const std::byte* from, std::size_t length) {
  if (length > 32) return copy_bytes(to, from, length);
  if (length > 16) return copy_ends<16>(to, from, length);
  if (length >= 8) return copy_ends<8>(to, from, length);
  if (length >= 4) return copy_ends<4>(to, from, length);
  for (std::size_t i = 0; i < length; ++i) to[i] = from[i];
}

/// Copies blocks between memory and the packed stream. A block of a basic element's size compiles to loads
/// and stores.
struct Packing {
  std::byte* stream;

  template <std::size_t length>
  void copy_fixed(const std::byte* memory, std::ptrdiff_t stride, std::size_t count) {
    for (std::size_t block = 0; block < count; ++block, memory += stride, stream += length) {
      std::memcpy(stream, memory, length);
    }
  }
  void copy(const std::byte* memory, std::size_t length) {
    copy_block(stream, memory, length);
    stream += length;
  }
};

struct Unpacking {
  const std::byte* stream;

  template <std::size_t length>
  void copy_fixed(std::byte* memory, std::ptrdiff_t stride, std::size_t count) {
    for (std::size_t block = 0; block < count; ++block, memory += stride, stream += length) {
      std::memcpy(memory, stream, length);
    }
  }
  void copy(std::byte* memory, std::size_t length) {
    copy_block(memory, stream, length);
    stream += length;
  }
};

template <typename Direction, typename Memory>
void copy_blocks(Direction& direction, Memory* memory, std::size_t length, std::ptrdiff_t stride,
                 std::size_t count) {
  switch (length) {
    case 1:
      return direction.template copy_fixed<1>(memory, stride, count);
    case 2:
      return direction.template copy_fixed<2>(memory, stride, count);
    case 4:
      return direction.template copy_fixed<4>(memory, stride, count);
    case 8:
      return direction.template copy_fixed<8>(memory, stride, count);
    case 16:
      return direction.template copy_fixed<16>(memory, stride, count);
    default:
      break;
  }
  for (std::size_t block = 0; block < count; ++block, memory += stride) direction.copy(memory, length);
}

/// Copies up to `bytes` bytes of a run from its byte `within` on; gives back how many.
template <typename Direction, typename Memory>
std::size_t copy_run(Direction& direction, Memory* element, const Run& run, std::size_t within,
                     std::size_t bytes) {
  const std::size_t wanted = std::min(bytes, run.bytes() - within);
  if (run.count == 1) {
    direction.copy(element + run.offset + within, wanted);
    return wanted;
  }
  std::size_t left = wanted;
  std::size_t block = within / run.length;
  const std::size_t in_block = within % run.length;
  const auto at = [&](std::size_t index) {
    return element + run.offset + run.stride * static_cast<std::ptrdiff_t>(index);
  };
  if (in_block != 0) {
    const std::size_t piece = std::min(left, run.length - in_block);
    direction.copy(at(block) + in_block, piece);
    left -= piece;
    ++block;
  }
  const std::size_t whole = left / run.length;
  if (whole > 0) copy_blocks(direction, at(block), run.length, run.stride, whole);
  left -= whole * run.length;
  if (left > 0) direction.copy(at(block + whole), left);
  return wanted;
}

/// Copies `bytes` bytes from byte `first_byte` of the packed stream on.
template <typename Direction, typename Memory>
void copy_range(Direction direction, Memory* base, const Datatype::Layout& layout, std::size_t first_byte,
                std::size_t bytes) {
  const std::ptrdiff_t extent = layout.upper_bound - layout.lower_bound;
  Memory* element = base + extent * static_cast<std::ptrdiff_t>(first_byte / layout.size);
  std::size_t within = first_byte % layout.size;
  auto run = std::upper_bound(
      layout.runs.begin(), layout.runs.end(), within,
      [](std::size_t position, const Run& candidate) { return position < candidate.packed; });
  --run;
  within -= run->packed;
  while (bytes > 0) {
    bytes -= copy_run(direction, element, *run, within, bytes);
    within = 0;
    if (++run == layout.runs.end()) {
      run = layout.runs.begin();
      element += extent;
    }
  }
}

}  // namespace

std::ptrdiff_t Signature::elements_in(std::size_t byte_count) const {
  std::size_t found = 0;
  for (const Item& item : items) {
    if (item.bytes == 0) continue;
    const std::size_t whole = std::min(item.count, byte_count / item.bytes);
    found += whole * (item.inner ? item.inner->elements : 1);
    byte_count -= whole * item.bytes;
    if (whole == item.count) continue;
    if (byte_count == 0) break;
    const std::ptrdiff_t rest = item.inner ? item.inner->elements_in(byte_count) : -1;
    return rest < 0 ? -1 : static_cast<std::ptrdiff_t>(found) + rest;
  }
  return static_cast<std::ptrdiff_t>(found);
}

Datatype::Datatype(Layout layout, std::unique_ptr<const TypeRecipe> recipe)
    : layout_(std::move(layout)), recipe_(std::move(recipe)) {
  const auto& runs = layout_.runs;
  contiguous_ = runs.empty() || (runs.size() == 1 && runs[0].count == 1 &&
                                 static_cast<std::ptrdiff_t>(layout_.size) == extent());
}

Datatype::~Datatype() = default;

std::size_t Datatype::span_bytes(std::size_t count) const {
  if (count == 0) return 0;
  const std::ptrdiff_t steps = extent() * static_cast<std::ptrdiff_t>(count - 1);
  return static_cast<std::size_t>(true_extent() + (steps < 0 ? -steps : steps));
}

std::ptrdiff_t Datatype::span_begin(std::size_t count) const {
  if (count == 0) return 0;
  return true_lower_bound() + std::min<std::ptrdiff_t>(0, extent() * static_cast<std::ptrdiff_t>(count - 1));
}

void Datatype::pack(const void* base, std::size_t count, std::size_t first_byte,
                    std::span<std::byte> out) const {
  LLAMADA_CHECK(first_byte + out.size() <= count * size());
  if (out.empty()) return;
  if (contiguous_) {
    copy_bytes(out.data(), data(base) + first_byte, out.size());
  } else {
    copy_range(Packing{out.data()}, static_cast<const std::byte*>(base), layout_, first_byte, out.size());
  }
}

void Datatype::unpack(std::span<const std::byte> in, std::size_t first_byte, void* base,
                      std::size_t count) const {
  LLAMADA_CHECK(first_byte + in.size() <= count * size());
  if (in.empty()) return;
  if (contiguous_) {
    copy_bytes(data(base) + first_byte, in.data(), in.size());
  } else {
    copy_range(Unpacking{in.data()}, static_cast<std::byte*>(base), layout_, first_byte, in.size());
  }
}

/// The handle that mpi.h names, as which predefined operations take it: its own, or for a type of
/// MPI_Type_create_f90_... the one whose values it has.
MPI_Datatype Datatype::operation_handle() const {
  return recipe_->combiner == MPI_COMBINER_NAMED ? handle_ : signature().items.front().basic;
}

void Datatype::set_predefined() {
  predefined_ = committed_ = true;
  plain_ = contiguous_ && layout_.true_lower_bound == 0;
  operations_ = element_operations(operation_handle());
}

}  // namespace llamada::mpi
