#pragma once

#include <mpi.h>

#include <span>

#include "object/type_builder.hpp"
#include "runtime/arguments.hpp"

// What the functions that make datatypes share.

namespace llamada::mpi {

constexpr std::size_t length(MPI_Count count) { return static_cast<std::size_t>(count); }

/// Gives a type its handle. Null: one that is too large.
inline int give_type(Reference<Datatype> type, MPI_Datatype* new_type) {
  if (!type)
    return report(nullptr, MPI_ERR_COUNT,
                  "the datatype would reach over more than 2^62 bytes, or have more than 2^30 pieces");
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

template <typename Count>
int check_lengths(std::span<const Count> block_lengths) {
  for (const Count block_length : block_lengths) {
    if (int code = check_count(nullptr, block_length, "block length")) return code;
  }
  return MPI_SUCCESS;
}

inline int check_lists(MPI_Count count, const void* first, const void* second) {
  if (count == 0) return MPI_SUCCESS;
  if (int code = check_pointer(nullptr, first, "list of block lengths or types")) return code;
  return check_pointer(nullptr, second, "list of displacements");
}

}  // namespace llamada::mpi
