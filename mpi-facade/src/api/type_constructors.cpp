#include "api/type_constructors.hpp"

// MPI 3.1, 4.1.2 and 4.1.3, with the names of MPI-1 (16.1).
using namespace llamada::mpi;

LLAMADA_MPI_FUNCTION(Type_contiguous)
int PMPI_Type_contiguous(int count, MPI_Datatype old_type, MPI_Datatype* new_type) {
  LLAMADA_MPI_ENTER(Type_contiguous);
  return create_contiguous(count, old_type, new_type);
}

LLAMADA_MPI_FUNCTION(Type_vector)
int PMPI_Type_vector(int count, int block_length, int stride, MPI_Datatype old_type, MPI_Datatype* new_type) {
  LLAMADA_MPI_ENTER(Type_vector);
  return create_vector(MPI_COMBINER_VECTOR, count, block_length, stride, old_type, new_type);
}

LLAMADA_MPI_FUNCTION(Type_create_hvector)
int PMPI_Type_create_hvector(int count, int block_length, MPI_Aint stride, MPI_Datatype old_type,
                             MPI_Datatype* new_type) {
  LLAMADA_MPI_ENTER(Type_create_hvector);
  return create_vector(MPI_COMBINER_HVECTOR, count, block_length, stride, old_type, new_type);
}

LLAMADA_MPI_FUNCTION(Type_hvector)
int PMPI_Type_hvector(int count, int block_length, MPI_Aint stride, MPI_Datatype old_type,
                      MPI_Datatype* new_type) {
  LLAMADA_MPI_ENTER(Type_hvector);
  return create_vector(MPI_COMBINER_HVECTOR, count, block_length, stride, old_type, new_type);
}

LLAMADA_MPI_FUNCTION(Type_indexed)
int PMPI_Type_indexed(int count, const int block_lengths[], const int displacements[], MPI_Datatype old_type,
                      MPI_Datatype* new_type) {
  LLAMADA_MPI_ENTER(Type_indexed);
  return create_indexed(MPI_COMBINER_INDEXED, count, block_lengths, displacements, old_type, new_type);
}

LLAMADA_MPI_FUNCTION(Type_create_hindexed)
int PMPI_Type_create_hindexed(int count, const int block_lengths[], const MPI_Aint displacements[],
                              MPI_Datatype old_type, MPI_Datatype* new_type) {
  LLAMADA_MPI_ENTER(Type_create_hindexed);
  return create_indexed(MPI_COMBINER_HINDEXED, count, block_lengths, displacements, old_type, new_type);
}

LLAMADA_MPI_FUNCTION(Type_hindexed)
int PMPI_Type_hindexed(int count, int block_lengths[], MPI_Aint displacements[], MPI_Datatype old_type,
                       MPI_Datatype* new_type) {
  LLAMADA_MPI_ENTER(Type_hindexed);
  return create_indexed<int, MPI_Aint>(MPI_COMBINER_HINDEXED, count, block_lengths, displacements, old_type,
                                       new_type);
}

LLAMADA_MPI_FUNCTION(Type_create_indexed_block)
int PMPI_Type_create_indexed_block(int count, int block_length, const int displacements[],
                                   MPI_Datatype old_type, MPI_Datatype* new_type) {
  LLAMADA_MPI_ENTER(Type_create_indexed_block);
  return create_indexed_block(MPI_COMBINER_INDEXED_BLOCK, count, block_length, displacements, old_type,
                              new_type);
}

LLAMADA_MPI_FUNCTION(Type_create_hindexed_block)
int PMPI_Type_create_hindexed_block(int count, int block_length, const MPI_Aint displacements[],
                                    MPI_Datatype old_type, MPI_Datatype* new_type) {
  LLAMADA_MPI_ENTER(Type_create_hindexed_block);
  return create_indexed_block(MPI_COMBINER_HINDEXED_BLOCK, count, block_length, displacements, old_type,
                              new_type);
}

LLAMADA_MPI_FUNCTION(Type_create_struct)
int PMPI_Type_create_struct(int count, const int block_lengths[], const MPI_Aint displacements[],
                            const MPI_Datatype types[], MPI_Datatype* new_type) {
  LLAMADA_MPI_ENTER(Type_create_struct);
  return create_struct(count, block_lengths, displacements, types, new_type);
}

LLAMADA_MPI_FUNCTION(Type_struct)
int PMPI_Type_struct(int count, int block_lengths[], MPI_Aint displacements[], MPI_Datatype types[],
                     MPI_Datatype* new_type) {
  LLAMADA_MPI_ENTER(Type_struct);
  return create_struct<int, MPI_Aint>(count, block_lengths, displacements, types, new_type);
}

LLAMADA_MPI_FUNCTION(Type_create_subarray)
int PMPI_Type_create_subarray(int dimension_count, const int sizes[], const int subsizes[],
                              const int starts[], int order, MPI_Datatype old_type, MPI_Datatype* new_type) {
  LLAMADA_MPI_ENTER(Type_create_subarray);
  Datatype* old = nullptr;
  if (int code = check_constructor(dimension_count, old_type, new_type, old)) return code;
  if (dimension_count < 1) return report(nullptr, MPI_ERR_ARG, "a subarray needs a dimension");
  if (order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN) {
    return report(nullptr, MPI_ERR_ARG,
                  fmt::format("the order {} is neither MPI_ORDER_C nor MPI_ORDER_FORTRAN", order));
  }
  for (const int* list : {sizes, subsizes, starts}) {
    if (int code = check_pointer(nullptr, list, "list of sizes or starts")) return code;
  }
  for (int index = 0; index < dimension_count; ++index) {
    const bool good = sizes[index] >= 1 && subsizes[index] >= 1 && subsizes[index] <= sizes[index] &&
                      starts[index] >= 0 && starts[index] <= sizes[index] - subsizes[index];
    if (!good) {
      return report(nullptr, MPI_ERR_ARG,
                    fmt::format("dimension {}: {} elements from {} on are not in an array of {}", index,
                                subsizes[index], starts[index], sizes[index]));
    }
  }
  const std::size_t count = length(dimension_count);
  return give_type(make_subarray({sizes, count}, {subsizes, count}, {starts, count}, order, *old), new_type);
}

LLAMADA_MPI_FUNCTION(Type_create_darray)
int PMPI_Type_create_darray(int size, int rank, int dimension_count, const int sizes[],
                            const int distributions[], const int distribution_arguments[],
                            const int process_counts[], int order, MPI_Datatype old_type,
                            MPI_Datatype* new_type) {
  LLAMADA_MPI_ENTER(Type_create_darray);
  Datatype* old = nullptr;
  if (int code = check_constructor(dimension_count, old_type, new_type, old)) return code;
  if (dimension_count < 1) return report(nullptr, MPI_ERR_ARG, "a distributed array needs a dimension");
  for (const int* list : {sizes, distributions, distribution_arguments, process_counts}) {
    if (int code = check_pointer(nullptr, list, "list of sizes or distributions")) return code;
  }
  const std::size_t count = length(dimension_count);
  const DistributedArray array{size,
                               rank,
                               {sizes, count},
                               {distributions, count},
                               {distribution_arguments, count},
                               {process_counts, count},
                               order};
  const auto checked = array.check();
  if (!checked) return report(nullptr, MPI_ERR_ARG, checked.error().text());
  return give_type(make_darray(array, *old), new_type);
}

LLAMADA_MPI_FUNCTION(Type_create_resized)
int PMPI_Type_create_resized(MPI_Datatype old_type, MPI_Aint lower_bound, MPI_Aint extent,
                             MPI_Datatype* new_type) {
  LLAMADA_MPI_ENTER(Type_create_resized);
  return create_resized<int>(old_type, lower_bound, extent, new_type);
}

LLAMADA_MPI_FUNCTION(Type_dup)
int PMPI_Type_dup(MPI_Datatype old_type, MPI_Datatype* new_type) {
  LLAMADA_MPI_ENTER(Type_dup);
  Datatype* old = nullptr;
  if (int code = check_constructor(0, old_type, new_type, old)) return code;
  auto copy = make_duplicate(*old);
  if (int code = old->attributes().copy_to(old_type, copy->attributes())) {
    *new_type = MPI_DATATYPE_NULL;
    return call_error_handler(nullptr, code);
  }
  return give_type(std::move(copy), new_type);
}
