#pragma once

#include <mpi.h>

#include "api/arguments.hpp"
#include "rma/synchronisation.hpp"
#include "rma/transfer.hpp"
#include "rma/window.hpp"

// What the C functions of one-sided communication share. Checks as in api/arguments.hpp: MPI_SUCCESS, or the
// code of an error that the window's error handler has been given.

namespace llamada::mpi::rma {

/// MPI_ERR_WIN, to the error handler of MPI_COMM_WORLD.
int find_window(MPI_Win win, Window*& found);

inline int report_fault(Window& window, Fault fault) {
  return fault ? report(window, fault.error_class, std::move(fault.text)) : MPI_SUCCESS;
}
inline int check_pointer(Window& window, const void* pointer, const char* what) {
  return pointer ? MPI_SUCCESS : report(window, MPI_ERR_ARG, fmt::format("the {} is a null pointer", what));
}
/// A rank of the window's group, or MPI_PROC_NULL.
int check_target(Window& window, int rank);
/// A rank of the window's group.
int check_member(Window& window, int rank);

/// A buffer of the program. `needed`: without it, neither the buffer nor the type is looked at.
int find_operand(Window& window, const void* buffer, int count, MPI_Datatype datatype, Operand& found);

/// The ranks in the window of a group's members, of which all must be members of the window.
int ranks_in(Window& window, MPI_Group group, std::vector<int>& ranks);

}  // namespace llamada::mpi::rma
