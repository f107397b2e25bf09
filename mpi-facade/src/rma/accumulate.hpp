#pragma once

#include "object/operation.hpp"
#include "rma/transfer.hpp"

// Accumulates (MPI 3.1, 11.3.4), without what makes them atomic: the caller holds the target's lock.

namespace llamada::mpi::rma {

/// The predefined type of which all elements of a datatype are; null when it has several or none.
const Datatype* basic_type_of(const Datatype& type);

/// Whether accumulates of elements of this basic type may use the operation (11.3.4: predefined ones,
/// MPI_REPLACE, MPI_NO_OP).
bool may_accumulate(MPI_Op op, const Operation& operation, const Datatype& basic);

/// target = target op origin. `basic` is the type of the elements of both. Errors: those of fetch().
Status accumulate(const Operand& origin, const Target& target, MPI_Op op, const Operation& operation,
                  const Datatype& basic);

}  // namespace llamada::mpi::rma
