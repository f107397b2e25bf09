#include "api/type_constructors.hpp"

// The constructors of datatypes with large counts (MPI 4.0, 5.1.2).
using namespace llamada::mpi;

LLAMADA_MPI_FUNCTION(Type_contiguous_c)
int PMPI_Type_contiguous_c(MPI_Count count, MPI_Datatype old_type, MPI_Datatype* new_type) {
  LLAMADA_MPI_ENTER(Type_contiguous_c);
  return create_contiguous(count, old_type, new_type);
}

LLAMADA_MPI_FUNCTION(Type_vector_c)
int PMPI_Type_vector_c(MPI_Count count, MPI_Count block_length, MPI_Count stride, MPI_Datatype old_type,
                       MPI_Datatype* new_type) {
  LLAMADA_MPI_ENTER(Type_vector_c);
  return create_vector(MPI_COMBINER_VECTOR, count, block_length, stride, old_type, new_type);
}

LLAMADA_MPI_FUNCTION(Type_create_hvector_c)
int PMPI_Type_create_hvector_c(MPI_Count count, MPI_Count block_length, MPI_Count stride,
                               MPI_Datatype old_type, MPI_Datatype* new_type) {
  LLAMADA_MPI_ENTER(Type_create_hvector_c);
  return create_vector(MPI_COMBINER_HVECTOR, count, block_length, stride, old_type, new_type);
}

LLAMADA_MPI_FUNCTION(Type_indexed_c)
int PMPI_Type_indexed_c(MPI_Count count, const MPI_Count block_lengths[], const MPI_Count displacements[],
                        MPI_Datatype old_type, MPI_Datatype* new_type) {
  LLAMADA_MPI_ENTER(Type_indexed_c);
  return create_indexed(MPI_COMBINER_INDEXED, count, block_lengths, displacements, old_type, new_type);
}

LLAMADA_MPI_FUNCTION(Type_create_hindexed_c)
int PMPI_Type_create_hindexed_c(MPI_Count count, const MPI_Count block_lengths[],
                                const MPI_Count displacements[], MPI_Datatype old_type,
                                MPI_Datatype* new_type) {
  LLAMADA_MPI_ENTER(Type_create_hindexed_c);
  return create_indexed(MPI_COMBINER_HINDEXED, count, block_lengths, displacements, old_type, new_type);
}

LLAMADA_MPI_FUNCTION(Type_create_indexed_block_c)
int PMPI_Type_create_indexed_block_c(MPI_Count count, MPI_Count block_length, const MPI_Count displacements[],
                                     MPI_Datatype old_type, MPI_Datatype* new_type) {
  LLAMADA_MPI_ENTER(Type_create_indexed_block_c);
  return create_indexed_block(MPI_COMBINER_INDEXED_BLOCK, count, block_length, displacements, old_type,
                              new_type);
}

LLAMADA_MPI_FUNCTION(Type_create_hindexed_block_c)
int PMPI_Type_create_hindexed_block_c(MPI_Count count, MPI_Count block_length,
                                      const MPI_Count displacements[], MPI_Datatype old_type,
                                      MPI_Datatype* new_type) {
  LLAMADA_MPI_ENTER(Type_create_hindexed_block_c);
  return create_indexed_block(MPI_COMBINER_HINDEXED_BLOCK, count, block_length, displacements, old_type,
                              new_type);
}

LLAMADA_MPI_FUNCTION(Type_create_struct_c)
int PMPI_Type_create_struct_c(MPI_Count count, const MPI_Count block_lengths[],
                              const MPI_Count displacements[], const MPI_Datatype types[],
                              MPI_Datatype* new_type) {
  LLAMADA_MPI_ENTER(Type_create_struct_c);
  return create_struct(count, block_lengths, displacements, types, new_type);
}

LLAMADA_MPI_FUNCTION(Type_create_resized_c)
int PMPI_Type_create_resized_c(MPI_Datatype old_type, MPI_Count lower_bound, MPI_Count extent,
                               MPI_Datatype* new_type) {
  LLAMADA_MPI_ENTER(Type_create_resized_c);
  return create_resized<MPI_Count>(old_type, lower_bound, extent, new_type);
}
