#include <vector>

#include "api/type_constructors.hpp"

// The constructors of datatypes with large counts (MPI 4.0, 5.1.2).
using namespace llamada::mpi;

namespace {

/// What MPI_Type_get_contents_c gives back: numbers in the order of the arguments.
TypeRecipe recipe_of(int combiner, std::vector<MPI_Count> counts, Datatype& old_type) {
  return {combiner, {}, {}, {Reference<Datatype>(&old_type)}, std::move(counts)};
}

std::vector<MPI_Count> numbers(std::vector<MPI_Count> first, std::span<const MPI_Count> list,
                               std::span<const MPI_Count> other = {}) {
  first.insert(first.end(), list.begin(), list.end());
  first.insert(first.end(), other.begin(), other.end());
  return first;
}

/// `number` times `unit` bytes; an error when there are no such addresses.
int to_bytes(MPI_Count number, std::ptrdiff_t unit, MPI_Aint& bytes) {
  if (!__builtin_mul_overflow(number, unit, &bytes)) return MPI_SUCCESS;
  return report(nullptr, MPI_ERR_ARG, fmt::format("{} extents of the datatype are too far away", number));
}

int to_bytes(std::span<const MPI_Count> displacements, std::ptrdiff_t unit, std::vector<MPI_Aint>& bytes) {
  bytes.resize(displacements.size());
  for (std::size_t index = 0; index < bytes.size(); ++index) {
    if (int code = to_bytes(displacements[index], unit, bytes[index])) return code;
  }
  return MPI_SUCCESS;
}

/// Types of blocks of different lengths; displacements in `unit` bytes, or in extents where that is 0.
int make_blocks(int combiner, MPI_Count count, const MPI_Count* block_lengths, const MPI_Count* displacements,
                std::ptrdiff_t unit, MPI_Datatype old_type, MPI_Datatype* new_type) {
  Datatype* old = nullptr;
  if (int code = check_constructor(count, old_type, new_type, old)) return code;
  if (int code = check_lists(count, block_lengths, displacements)) return code;
  const std::span lengths(block_lengths, length(count));
  const std::span places(displacements, length(count));
  if (int code = check_lengths(lengths)) return code;
  std::vector<MPI_Aint> bytes;
  if (int code = to_bytes(places, unit ? unit : old->extent(), bytes)) return code;
  return give_type(
      make_indexed(lengths, bytes, *old, recipe_of(combiner, numbers({count}, lengths, places), *old)),
      new_type);
}

/// The same with one length for all.
int make_equal_blocks(int combiner, MPI_Count count, MPI_Count block_length, const MPI_Count* displacements,
                      std::ptrdiff_t unit, MPI_Datatype old_type, MPI_Datatype* new_type) {
  Datatype* old = nullptr;
  if (int code = check_constructor(count, old_type, new_type, old)) return code;
  if (int code = check_count(nullptr, block_length, "block length")) return code;
  if (int code = check_lists(count, displacements, displacements)) return code;
  const std::span places(displacements, length(count));
  std::vector<MPI_Aint> bytes;
  if (int code = to_bytes(places, unit ? unit : old->extent(), bytes)) return code;
  return give_type(make_indexed(std::span<const MPI_Count>(&block_length, 1), bytes, *old,
                                recipe_of(combiner, numbers({count, block_length}, places), *old)),
                   new_type);
}

}  // namespace

LLAMADA_MPI_FUNCTION(Type_contiguous_c)
int PMPI_Type_contiguous_c(MPI_Count count, MPI_Datatype old_type, MPI_Datatype* new_type) {
  LLAMADA_MPI_ENTER(Type_contiguous_c);
  Datatype* old = nullptr;
  if (int code = check_constructor(count, old_type, new_type, old)) return code;
  return give_type(make_contiguous(count, *old, recipe_of(MPI_COMBINER_CONTIGUOUS, {count}, *old)), new_type);
}

LLAMADA_MPI_FUNCTION(Type_vector_c)
int PMPI_Type_vector_c(MPI_Count count, MPI_Count block_length, MPI_Count stride, MPI_Datatype old_type,
                       MPI_Datatype* new_type) {
  LLAMADA_MPI_ENTER(Type_vector_c);
  Datatype* old = nullptr;
  if (int code = check_constructor(count, old_type, new_type, old)) return code;
  if (int code = check_count(nullptr, block_length, "block length")) return code;
  MPI_Aint stride_bytes = 0;
  if (int code = to_bytes(stride, old->extent(), stride_bytes)) return code;
  return give_type(make_vector(count, block_length, stride_bytes, *old,
                               recipe_of(MPI_COMBINER_VECTOR, {count, block_length, stride}, *old)),
                   new_type);
}

LLAMADA_MPI_FUNCTION(Type_create_hvector_c)
int PMPI_Type_create_hvector_c(MPI_Count count, MPI_Count block_length, MPI_Count stride,
                               MPI_Datatype old_type, MPI_Datatype* new_type) {
  LLAMADA_MPI_ENTER(Type_create_hvector_c);
  Datatype* old = nullptr;
  if (int code = check_constructor(count, old_type, new_type, old)) return code;
  if (int code = check_count(nullptr, block_length, "block length")) return code;
  return give_type(make_vector(count, block_length, static_cast<std::ptrdiff_t>(stride), *old,
                               recipe_of(MPI_COMBINER_HVECTOR, {count, block_length, stride}, *old)),
                   new_type);
}

LLAMADA_MPI_FUNCTION(Type_indexed_c)
int PMPI_Type_indexed_c(MPI_Count count, const MPI_Count block_lengths[], const MPI_Count displacements[],
                        MPI_Datatype old_type, MPI_Datatype* new_type) {
  LLAMADA_MPI_ENTER(Type_indexed_c);
  return make_blocks(MPI_COMBINER_INDEXED, count, block_lengths, displacements, 0, old_type, new_type);
}

LLAMADA_MPI_FUNCTION(Type_create_hindexed_c)
int PMPI_Type_create_hindexed_c(MPI_Count count, const MPI_Count block_lengths[],
                                const MPI_Count displacements[], MPI_Datatype old_type,
                                MPI_Datatype* new_type) {
  LLAMADA_MPI_ENTER(Type_create_hindexed_c);
  return make_blocks(MPI_COMBINER_HINDEXED, count, block_lengths, displacements, 1, old_type, new_type);
}

LLAMADA_MPI_FUNCTION(Type_create_indexed_block_c)
int PMPI_Type_create_indexed_block_c(MPI_Count count, MPI_Count block_length, const MPI_Count displacements[],
                                     MPI_Datatype old_type, MPI_Datatype* new_type) {
  LLAMADA_MPI_ENTER(Type_create_indexed_block_c);
  return make_equal_blocks(MPI_COMBINER_INDEXED_BLOCK, count, block_length, displacements, 0, old_type,
                           new_type);
}

LLAMADA_MPI_FUNCTION(Type_create_hindexed_block_c)
int PMPI_Type_create_hindexed_block_c(MPI_Count count, MPI_Count block_length,
                                      const MPI_Count displacements[], MPI_Datatype old_type,
                                      MPI_Datatype* new_type) {
  LLAMADA_MPI_ENTER(Type_create_hindexed_block_c);
  return make_equal_blocks(MPI_COMBINER_HINDEXED_BLOCK, count, block_length, displacements, 1, old_type,
                           new_type);
}

LLAMADA_MPI_FUNCTION(Type_create_struct_c)
int PMPI_Type_create_struct_c(MPI_Count count, const MPI_Count block_lengths[],
                              const MPI_Count displacements[], const MPI_Datatype types[],
                              MPI_Datatype* new_type) {
  LLAMADA_MPI_ENTER(Type_create_struct_c);
  if (int code = check_count(nullptr, count)) return code;
  if (int code = check_pointer(nullptr, new_type, "new datatype")) return code;
  if (int code = check_lists(count, block_lengths, displacements)) return code;
  if (int code = check_lists(count, types, displacements)) return code;
  const std::span lengths(block_lengths, length(count));
  const std::span places(displacements, length(count));
  if (int code = check_lengths(lengths)) return code;
  std::vector<Datatype*> found(length(count));
  for (std::size_t index = 0; index < found.size(); ++index) {
    if (int code = find_datatype(nullptr, types[index], found[index])) return code;
  }
  TypeRecipe recipe{MPI_COMBINER_STRUCT, {}, {}, {}, numbers({count}, lengths, places)};
  const std::vector<MPI_Aint> bytes(places.begin(), places.end());
  return give_type(make_struct(lengths, bytes, found, std::move(recipe)), new_type);
}

LLAMADA_MPI_FUNCTION(Type_create_resized_c)
int PMPI_Type_create_resized_c(MPI_Datatype old_type, MPI_Count lower_bound, MPI_Count extent,
                               MPI_Datatype* new_type) {
  LLAMADA_MPI_ENTER(Type_create_resized_c);
  Datatype* old = nullptr;
  if (int code = check_constructor(0, old_type, new_type, old)) return code;
  return give_type(make_resized(*old, static_cast<MPI_Aint>(lower_bound), static_cast<MPI_Aint>(extent),
                                recipe_of(MPI_COMBINER_RESIZED, {lower_bound, extent}, *old)),
                   new_type);
}
