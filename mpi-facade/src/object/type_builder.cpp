#include "object/type_builder.hpp"

#include <algorithm>
#include <utility>

namespace llamada::mpi {
namespace {

/// Bounds lie within this of 0, so extents are at most twice as much.
constexpr std::ptrdiff_t reach_max = std::ptrdiff_t{1} << 61;
constexpr std::size_t runs_max = std::size_t{1} << 30;

Reference<Datatype> finish(LayoutBuilder& builder, TypeRecipe recipe) {
  if (builder.is_too_large()) return {};
  return make_counted<Datatype>(builder.finish(), std::make_unique<const TypeRecipe>(std::move(recipe)));
}

TypeRecipe recipe_of(int combiner, std::vector<MPI_Count> numbers, Datatype& type) {
  return {combiner, std::move(numbers), {Reference<Datatype>(&type)}};
}

/// factor * count + offset, when that is in reach.
bool reaches(std::ptrdiff_t factor, std::size_t count, std::ptrdiff_t offset, std::ptrdiff_t& result) {
  return !__builtin_mul_overflow(factor, count, &result) &&
         !__builtin_add_overflow(result, offset, &result) && result <= reach_max && result >= -reach_max;
}

/// The blocks of an indexed type or struct: one length for all, or one for each.
template <typename Type>
void place_each(LayoutBuilder& builder, std::span<const MPI_Count> block_lengths,
                std::span<const MPI_Aint> displacements, Type&& type) {
  for (std::size_t block = 0; block < displacements.size(); ++block) {
    const MPI_Count length = block_lengths.size() == 1 ? block_lengths[0] : block_lengths[block];
    builder.place(type(block), displacements[block], static_cast<std::size_t>(length));
  }
}

}  // namespace

void LayoutBuilder::add_run(Run run) {
  if (run.count > 1 && run.stride == static_cast<std::ptrdiff_t>(run.length)) {
    run.length *= run.count;
    run.count = 1;
  }
  run.packed = layout_.size;
  layout_.size += run.bytes();
  if (!layout_.runs.empty()) {
    Run& last = layout_.runs.back();
    const auto length = static_cast<std::ptrdiff_t>(last.length);
    if (last.count == 1 && run.count == 1 && last.offset + length == run.offset) {
      last.length += run.length;
      return;
    }
    if (last.length == run.length) {
      const std::ptrdiff_t stride = last.count > 1 ? last.stride : run.offset - last.offset;
      const bool continues = run.offset == last.offset + stride * static_cast<std::ptrdiff_t>(last.count);
      if (continues && (run.count == 1 || run.stride == stride)) {
        last.stride = stride;
        last.count += run.count;
        return;
      }
    }
  }
  layout_.runs.push_back(run);
}

void LayoutBuilder::add_bounds(const Datatype& inner, std::ptrdiff_t displacement, std::ptrdiff_t last) {
  const auto& from = inner.layout();
  const std::ptrdiff_t low = displacement + from.lower_bound + std::min<std::ptrdiff_t>(0, last);
  const std::ptrdiff_t high = displacement + from.upper_bound + std::max<std::ptrdiff_t>(0, last);
  const bool counts = from.size > 0;
  // A marker outweighs all bounds that come from data alone (4.1.6).
  const auto merge = [&](std::ptrdiff_t& bound, bool& has_marker, std::ptrdiff_t candidate, bool marked,
                         bool lower) {
    if (!marked && (has_marker || !counts)) return;
    const bool replaces = (marked && !has_marker) || (!has_marker && !has_bounds_);
    bound = replaces ? candidate : lower ? std::min(bound, candidate) : std::max(bound, candidate);
    has_marker = has_marker || marked;
  };
  merge(layout_.lower_bound, layout_.has_lower_marker, low, from.has_lower_marker, true);
  merge(layout_.upper_bound, layout_.has_upper_marker, high, from.has_upper_marker, false);
  has_bounds_ = has_bounds_ || counts;
  if (!counts) return;
  const std::ptrdiff_t true_low = displacement + from.true_lower_bound + std::min<std::ptrdiff_t>(0, last);
  const std::ptrdiff_t true_high = displacement + from.true_upper_bound + std::max<std::ptrdiff_t>(0, last);
  layout_.true_lower_bound = has_data_ ? std::min(layout_.true_lower_bound, true_low) : true_low;
  layout_.true_upper_bound = has_data_ ? std::max(layout_.true_upper_bound, true_high) : true_high;
  has_data_ = true;
}

void LayoutBuilder::add_signature(const Datatype& inner, std::size_t count) {
  const Signature& from = inner.signature();
  if (from.bytes == 0) return;
  Signature::Item item{inner.layout().signature, from.bytes, count, MPI_DATATYPE_NULL};
  if (from.items.size() == 1) {
    item = from.items[0];
    item.count *= count;
  }
  signature_.bytes += from.bytes * count;
  signature_.elements += from.elements * count;
  auto& items = signature_.items;
  if (!items.empty() && items.back().inner == item.inner && items.back().bytes == item.bytes &&
      items.back().basic == item.basic) {
    items.back().count += item.count;
  } else {
    items.push_back(std::move(item));
  }
}

/// Whether `count` elements more, the last of them `last` bytes behind the first, can be placed.
bool LayoutBuilder::check_reach(const Datatype& inner, std::ptrdiff_t displacement, std::ptrdiff_t last,
                                std::size_t count) {
  const auto& from = inner.layout();
  std::ptrdiff_t reached = 0;
  is_too_large_ = is_too_large_ || !reaches(displacement, 1, last, reached) ||
                  !reaches(reached, 1, from.lower_bound, reached) ||
                  !reaches(displacement + last, 1, from.upper_bound, reached) ||
                  !reaches(static_cast<std::ptrdiff_t>(from.size), count,
                           static_cast<std::ptrdiff_t>(layout_.size), reached);
  return !is_too_large_;
}

void LayoutBuilder::place_blocks(const Datatype& inner, std::size_t block_length, std::ptrdiff_t stride,
                                 std::size_t count) {
  if (count == 0 || block_length == 0) return;
  std::ptrdiff_t in_block = 0, last = 0;
  std::size_t elements = 0;
  is_too_large_ = is_too_large_ || !reaches(inner.extent(), block_length - 1, 0, in_block) ||
                  !reaches(stride, count - 1, 0, last) ||
                  __builtin_mul_overflow(block_length, count, &elements);
  if (is_too_large_ || !check_reach(inner, last, in_block, elements)) return;
  const auto& runs = inner.layout().runs;
  const bool is_one_run =
      runs.size() == 1 && runs[0].count == 1 &&
      (block_length == 1 || inner.extent() == static_cast<std::ptrdiff_t>(runs[0].length));
  if (!is_one_run && !runs.empty()) {
    is_too_large_ = runs.size() > runs_max / count;
    for (std::size_t block = 0; block < count && !is_too_large_; ++block)
      place(inner, stride * static_cast<std::ptrdiff_t>(block), block_length);
    return;
  }
  add_bounds(inner, 0, in_block);
  add_bounds(inner, last, in_block);
  add_signature(inner, elements);
  layout_.alignment = std::max(layout_.alignment, inner.layout().alignment);
  if (is_one_run) add_run({runs[0].offset, runs[0].length * block_length, count, stride});
}

void LayoutBuilder::place(const Datatype& inner, std::ptrdiff_t displacement, std::size_t count) {
  if (count == 0) return;
  const std::ptrdiff_t extent = inner.extent();
  std::ptrdiff_t last = 0;
  is_too_large_ = is_too_large_ || !reaches(extent, count - 1, 0, last);
  if (is_too_large_ || !check_reach(inner, displacement, last, count)) return;
  add_bounds(inner, displacement, last);
  add_signature(inner, count);
  layout_.alignment = std::max(layout_.alignment, inner.layout().alignment);
  const auto& runs = inner.layout().runs;
  if (runs.size() == 1 && runs[0].count == 1) {
    add_run({displacement + runs[0].offset, runs[0].length, count, extent});
    return;
  }
  is_too_large_ = runs.size() > runs_max / count;
  if (is_too_large_ || runs.empty()) return;
  for (std::size_t element = 0; element < count; ++element, displacement += extent) {
    for (Run run : runs) {
      run.offset += displacement;
      add_run(run);
    }
  }
}

void LayoutBuilder::pad_to_alignment() {
  if (layout_.has_upper_marker) return;
  const auto alignment = static_cast<std::ptrdiff_t>(layout_.alignment);
  const std::ptrdiff_t beyond = (layout_.upper_bound - layout_.lower_bound) % alignment;
  if (beyond > 0) layout_.upper_bound += alignment - beyond;
}

Datatype::Layout LayoutBuilder::finish() {
  layout_.runs.shrink_to_fit();
  layout_.signature = std::make_shared<const Signature>(std::move(signature_));
  return std::move(layout_);
}

std::ptrdiff_t displacement_unit(int combiner, const Datatype& old_type) {
  switch (combiner) {
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_INDEXED_BLOCK:
      return old_type.extent();
    default:
      return 1;
  }
}

Reference<Datatype> make_contiguous(MPI_Count count, Datatype& old_type) {
  return make_contiguous(count, old_type, recipe_of(MPI_COMBINER_CONTIGUOUS, {count}, old_type));
}

Reference<Datatype> make_contiguous(MPI_Count count, Datatype& old_type, TypeRecipe recipe) {
  LayoutBuilder builder;
  builder.place(old_type, 0, static_cast<std::size_t>(count));
  return finish(builder, std::move(recipe));
}

Reference<Datatype> make_vector(MPI_Count count, MPI_Count block_length, std::ptrdiff_t stride_bytes,
                                Datatype& old_type, TypeRecipe recipe) {
  LayoutBuilder builder;
  builder.place_blocks(old_type, static_cast<std::size_t>(block_length), stride_bytes,
                       static_cast<std::size_t>(count));
  return finish(builder, std::move(recipe));
}

Reference<Datatype> make_indexed(std::span<const MPI_Count> block_lengths,
                                 std::span<const MPI_Aint> displacements, Datatype& old_type,
                                 TypeRecipe recipe) {
  LayoutBuilder builder;
  place_each(builder, block_lengths, displacements, [&](std::size_t) -> Datatype& { return old_type; });
  return finish(builder, std::move(recipe));
}

Reference<Datatype> make_struct(std::span<const MPI_Count> block_lengths,
                                std::span<const MPI_Aint> displacements, std::span<Datatype* const> types,
                                TypeRecipe recipe) {
  LayoutBuilder builder;
  place_each(builder, block_lengths, displacements,
             [&](std::size_t block) -> Datatype& { return *types[block]; });
  for (Datatype* type : types) recipe.types.emplace_back(type);
  builder.pad_to_alignment();
  return finish(builder, std::move(recipe));
}

Reference<Datatype> make_resized(Datatype& old_type, MPI_Aint lower_bound, MPI_Aint extent) {
  TypeRecipe recipe = recipe_of(MPI_COMBINER_RESIZED, {lower_bound, extent}, old_type);
  recipe.address_count = 2;
  return make_resized(old_type, lower_bound, extent, std::move(recipe));
}

Reference<Datatype> make_resized(Datatype& old_type, MPI_Aint lower_bound, MPI_Aint extent,
                                 TypeRecipe recipe) {
  std::ptrdiff_t low = 0, high = 0;
  if (!reaches(lower_bound, 1, 0, low) || !reaches(extent, 1, lower_bound, high)) return {};
  Datatype::Layout layout = old_type.layout();
  layout.lower_bound = low;
  layout.upper_bound = high;
  layout.has_lower_marker = layout.has_upper_marker = true;
  return make_counted<Datatype>(std::move(layout), std::make_unique<const TypeRecipe>(std::move(recipe)));
}

Reference<Datatype> make_duplicate(Datatype& old_type) {
  Datatype::Layout layout = old_type.layout();
  auto copy = make_counted<Datatype>(
      std::move(layout), std::make_unique<const TypeRecipe>(recipe_of(MPI_COMBINER_DUP, {}, old_type)));
  if (old_type.is_committed()) copy->commit();
  return copy;
}

Reference<Datatype> make_subarray(std::span<const int> sizes, std::span<const int> subsizes,
                                  std::span<const int> starts, int order, Datatype& old_type) {
  const std::size_t dimension_count = sizes.size();
  TypeRecipe recipe = recipe_of(MPI_COMBINER_SUBARRAY, {static_cast<MPI_Count>(dimension_count)}, old_type);
  for (auto list : {sizes, subsizes, starts}) {
    recipe.numbers.insert(recipe.numbers.end(), list.begin(), list.end());
  }
  recipe.numbers.push_back(order);

  // From the dimension whose elements are neighbours outwards: each level is a row of the one within.
  Reference<Datatype> level(&old_type);
  std::ptrdiff_t step = old_type.extent();
  std::ptrdiff_t start = 0;
  for (std::size_t index = 0; index < dimension_count; ++index) {
    const std::size_t dimension = order == MPI_ORDER_C ? dimension_count - 1 - index : index;
    LayoutBuilder row;
    for (int element = 0; element < subsizes[dimension]; ++element) row.place(*level, step * element, 1);
    if (!reaches(step, static_cast<std::size_t>(starts[dimension]), start, start) ||
        !reaches(step, static_cast<std::size_t>(sizes[dimension]), 0, step))
      return {};
    level = finish(row, TypeRecipe{});
    if (!level) return {};
  }
  LayoutBuilder whole;
  whole.place(*level, start, 1);
  Datatype::Layout layout = whole.finish();
  layout.lower_bound = 0;
  layout.upper_bound = step;
  layout.has_lower_marker = layout.has_upper_marker = true;
  return make_counted<Datatype>(std::move(layout), std::make_unique<const TypeRecipe>(std::move(recipe)));
}

}  // namespace llamada::mpi
