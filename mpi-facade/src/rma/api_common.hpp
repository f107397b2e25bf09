#pragma once

#include <mpi.h>

#include "rma/synchronisation.hpp"
#include "rma/transfer.hpp"
#include "rma/window.hpp"
#include "runtime/arguments.hpp"

// What the C functions of one-sided communication share. Checks as in api/arguments.hpp: MPI_SUCCESS, or the
// code of an error that the window's error handler has been given.

namespace llamada::mpi::rma {

namespace detail {
int bad_window(MPI_Win win);
int bad_member(Window& window, int rank);
int failed_transfer(Window& window, const Error& error);
int bad_operand(Window& window, const void* buffer, int count, MPI_Datatype datatype, const Datatype* type);
}  // namespace detail

/// MPI_ERR_WIN, to the error handler of MPI_COMM_WORLD.
inline int find_window(MPI_Win win, Window*& found) {
  const Windows* windows = runtime().one_sided.windows.get();
  found = windows ? windows->find(win) : nullptr;
  return found ? MPI_SUCCESS : detail::bad_window(win);
}

inline int report_fault(Window& window, Fault fault) {
  return fault ? report(window, fault.error_class, std::move(fault.text)) : MPI_SUCCESS;
}
/// What has become of an operation, or of several that were recorded.
inline int report_status(Window& window, const Status& status) {
  return status ? MPI_SUCCESS : detail::failed_transfer(window, status.error());
}
inline int check_pointer(Window& window, const void* pointer, const char* what) {
  return pointer ? MPI_SUCCESS : report(window, MPI_ERR_ARG, fmt::format("the {} is a null pointer", what));
}
/// A rank of the window's group, or MPI_PROC_NULL.
inline int check_target(Window& window, int rank) {
  const bool good =
      (rank >= 0 && static_cast<std::size_t>(rank) < window.members().size()) || rank == MPI_PROC_NULL;
  return good ? MPI_SUCCESS : detail::bad_member(window, rank);
}

/// A buffer of the program.
inline int find_operand(Window& window, const void* buffer, int count, MPI_Datatype datatype,
                        Operand& found) {
  const Datatype* type = runtime().datatypes.find(datatype);
  const bool good = type && type->is_committed() && count >= 0 && buffer != nullptr && buffer != MPI_IN_PLACE;
  if (!good)
    if (int code = detail::bad_operand(window, buffer, count, datatype, type)) return code;
  found = {const_cast<void*>(buffer), static_cast<std::size_t>(count), type};
  return MPI_SUCCESS;
}

/// The ranks in the window of a group's members, of which all must be members of the window.
int ranks_in(Window& window, MPI_Group group, std::vector<int>& ranks);

}  // namespace llamada::mpi::rma
