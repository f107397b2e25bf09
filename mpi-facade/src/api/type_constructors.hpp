#pragma once

#include <mpi.h>

#include <concepts>
#include <span>
#include <utility>
#include <vector>

#include "object/type_builder.hpp"
#include "runtime/arguments.hpp"

// What the functions that make datatypes share: each is there once for both kinds of functions. `Count` is
// int, or MPI_Count in a function with large counts (MPI 4.0, 5.1.2); `Displacement` is int, MPI_Aint for
// addresses, or MPI_Count.

namespace llamada::mpi {

constexpr std::size_t length(MPI_Count count) { return static_cast<std::size_t>(count); }

/// Gives a type its handle. Null: one that is too large.
inline int give_type(Reference<Datatype> type, MPI_Datatype* new_type) {
  if (!type)
    return report(nullptr, MPI_ERR_COUNT,
                  "the datatype would reach farther than 2^61 bytes, or have more than 2^30 pieces");
  Datatype& made = *type;
  *new_type = runtime().datatypes.insert(std::move(type));
  made.set_handle(*new_type);
  return MPI_SUCCESS;
}

/// What all constructors have in common.
inline int check_constructor(MPI_Count count, MPI_Datatype old_type, MPI_Datatype* new_type,
                             Datatype*& found) {
  if (int code = check_count(nullptr, count)) return code;
  if (int code = check_pointer(nullptr, new_type, "new datatype")) return code;
  return find_datatype(nullptr, old_type, found);
}

inline int check_lists(MPI_Count count, const void* first, const void* second) {
  if (count == 0) return MPI_SUCCESS;
  if (int code = check_pointer(nullptr, first, "list of block lengths or types")) return code;
  return check_pointer(nullptr, second, "list of displacements");
}

/// Block lengths, all of which are no less than 0.
template <typename Count>
int find_lengths(MPI_Count count, const Count* block_lengths, std::vector<MPI_Count>& found) {
  found.assign(block_lengths, block_lengths + count);
  for (const MPI_Count block_length : found) {
    if (int code = check_count(nullptr, block_length, "block length")) return code;
  }
  return MPI_SUCCESS;
}

/// `displacements` times `unit` bytes; an error when there are no such addresses.
template <typename Displacement>
int find_displacements(std::span<const Displacement> displacements, std::ptrdiff_t unit,
                       std::vector<MPI_Aint>& bytes) {
  bytes.resize(displacements.size());
  for (std::size_t index = 0; index < bytes.size(); ++index) {
    if (__builtin_mul_overflow(displacements[index], unit, &bytes[index]))
      return report(nullptr, MPI_ERR_ARG,
                    fmt::format("{} extents of the datatype are too far away", displacements[index]));
  }
  return MPI_SUCCESS;
}

/// What MPI_Type_get_contents gives back: `numbers`, and behind them `displacements`.
template <typename Count, typename Displacement>
TypeRecipe recipe_of(int combiner, std::vector<MPI_Count> numbers,
                     std::span<const Displacement> displacements, std::vector<Reference<Datatype>> types) {
  numbers.insert(numbers.end(), displacements.begin(), displacements.end());
  const bool are_addresses = std::same_as<Displacement, MPI_Aint>;
  return {combiner, std::move(numbers), std::move(types), are_addresses ? displacements.size() : 0,
          std::same_as<Count, MPI_Count>};
}

template <typename Count>
int create_contiguous(Count count, MPI_Datatype old_type, MPI_Datatype* new_type) {
  Datatype* old = nullptr;
  if (int code = check_constructor(count, old_type, new_type, old)) return code;
  auto recipe = recipe_of<Count, Count>(MPI_COMBINER_CONTIGUOUS, {count}, {}, {Reference<Datatype>(old)});
  return give_type(make_contiguous(count, *old, std::move(recipe)), new_type);
}

/// MPI_COMBINER_VECTOR or MPI_COMBINER_HVECTOR.
template <typename Count, typename Displacement>
int create_vector(int combiner, Count count, Count block_length, Displacement stride, MPI_Datatype old_type,
                  MPI_Datatype* new_type) {
  Datatype* old = nullptr;
  if (int code = check_constructor(count, old_type, new_type, old)) return code;
  if (int code = check_count(nullptr, block_length, "block length")) return code;
  const std::span<const Displacement> strides(&stride, 1);
  std::vector<MPI_Aint> bytes;
  if (int code = find_displacements(strides, displacement_unit(combiner, *old), bytes)) return code;
  auto recipe = recipe_of<Count>(combiner, {count, block_length}, strides, {Reference<Datatype>(old)});
  return give_type(make_vector(count, block_length, bytes[0], *old, std::move(recipe)), new_type);
}

/// MPI_COMBINER_INDEXED or MPI_COMBINER_HINDEXED.
template <typename Count, typename Displacement>
int create_indexed(int combiner, Count count, const Count* block_lengths, const Displacement* displacements,
                   MPI_Datatype old_type, MPI_Datatype* new_type) {
  Datatype* old = nullptr;
  if (int code = check_constructor(count, old_type, new_type, old)) return code;
  if (int code = check_lists(count, block_lengths, displacements)) return code;
  std::vector<MPI_Count> lengths;
  if (int code = find_lengths(count, block_lengths, lengths)) return code;
  const std::span places(displacements, length(count));
  std::vector<MPI_Aint> bytes;
  if (int code = find_displacements(places, displacement_unit(combiner, *old), bytes)) return code;
  std::vector<MPI_Count> numbers{count};
  numbers.insert(numbers.end(), lengths.begin(), lengths.end());
  auto recipe = recipe_of<Count>(combiner, std::move(numbers), places, {Reference<Datatype>(old)});
  return give_type(make_indexed(lengths, bytes, *old, std::move(recipe)), new_type);
}

/// MPI_COMBINER_INDEXED_BLOCK or MPI_COMBINER_HINDEXED_BLOCK.
template <typename Count, typename Displacement>
int create_indexed_block(int combiner, Count count, Count block_length, const Displacement* displacements,
                         MPI_Datatype old_type, MPI_Datatype* new_type) {
  Datatype* old = nullptr;
  if (int code = check_constructor(count, old_type, new_type, old)) return code;
  if (int code = check_count(nullptr, block_length, "block length")) return code;
  if (int code = check_lists(count, displacements, displacements)) return code;
  const std::span places(displacements, length(count));
  std::vector<MPI_Aint> bytes;
  if (int code = find_displacements(places, displacement_unit(combiner, *old), bytes)) return code;
  auto recipe = recipe_of<Count>(combiner, {count, block_length}, places, {Reference<Datatype>(old)});
  const MPI_Count each = block_length;
  return give_type(make_indexed({&each, 1}, bytes, *old, std::move(recipe)), new_type);
}

template <typename Count, typename Displacement>
int create_struct(Count count, const Count* block_lengths, const Displacement* displacements,
                  const MPI_Datatype* types, MPI_Datatype* new_type) {
  if (int code = check_count(nullptr, count)) return code;
  if (int code = check_pointer(nullptr, new_type, "new datatype")) return code;
  if (int code = check_lists(count, block_lengths, displacements)) return code;
  if (int code = check_lists(count, types, displacements)) return code;
  std::vector<MPI_Count> lengths;
  if (int code = find_lengths(count, block_lengths, lengths)) return code;
  std::vector<Datatype*> found(length(count));
  for (std::size_t index = 0; index < found.size(); ++index) {
    if (int code = find_datatype(nullptr, types[index], found[index])) return code;
  }
  const std::span places(displacements, length(count));
  const std::vector<MPI_Aint> bytes(places.begin(), places.end());
  std::vector<MPI_Count> numbers{count};
  numbers.insert(numbers.end(), lengths.begin(), lengths.end());
  auto recipe = recipe_of<Count>(MPI_COMBINER_STRUCT, std::move(numbers), places, {});
  return give_type(make_struct(lengths, bytes, found, std::move(recipe)), new_type);
}

template <typename Count, typename Displacement>
int create_resized(MPI_Datatype old_type, Displacement lower_bound, Displacement extent,
                   MPI_Datatype* new_type) {
  Datatype* old = nullptr;
  if (int code = check_constructor(0, old_type, new_type, old)) return code;
  const Displacement bounds[] = {lower_bound, extent};
  auto recipe = recipe_of<Count, Displacement>(MPI_COMBINER_RESIZED, {}, bounds, {Reference<Datatype>(old)});
  return give_type(make_resized(*old, lower_bound, extent, std::move(recipe)), new_type);
}

}  // namespace llamada::mpi
