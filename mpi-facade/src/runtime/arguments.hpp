#pragma once

#include <mpi.h>

#include <cstddef>
#include <utility>

#include "runtime/entry.hpp"
#include "runtime/errors.hpp"
#include "runtime/runtime.hpp"

/// Checks of what a program hands to a C function. Each gives MPI_SUCCESS, or has reported the error and
/// gives the code to return:
///
///   Communicator* communicator = nullptr;
///   if (int code = find_communicator(comm, communicator)) return code;
///   Datatype* type = nullptr;
///   if (int code = find_committed(communicator, datatype, type)) return code;
///   if (int code = check_buffer(communicator, buffer, count, *type)) return code;
namespace llamada::mpi {

namespace detail {
int bad_communicator(MPI_Comm comm);
int bad_intercommunicator(Communicator* communicator);
int bad_intracommunicator(Communicator* communicator);
int bad_datatype(Communicator* communicator, MPI_Datatype datatype, const Datatype* found);
int bad_count(Communicator* communicator, long long count, const char* what);
int too_much_data(Communicator* communicator, long long count);
int bad_buffer(Communicator* communicator, const void* buffer);
int bad_rank(Communicator* communicator, int rank, const char* what);
int bad_root(Communicator* communicator, int root);
int bad_tag(Communicator* communicator, int tag, bool any_allowed);
int bad_operation(Communicator* communicator, MPI_Op op, const Operation* found, const Datatype* datatype);
int null_pointer(Communicator* communicator, const char* what);
}  // namespace detail

inline int find_communicator(MPI_Comm comm, Communicator*& found) {
  found = runtime().communicators.find(comm);
  return found ? MPI_SUCCESS : detail::bad_communicator(comm);
}

/// Not an intercommunicator.
inline int find_intracommunicator(MPI_Comm comm, Communicator*& found) {
  if (int code = find_communicator(comm, found)) return code;
  return found->is_inter() ? detail::bad_intercommunicator(found) : MPI_SUCCESS;
}
inline int find_intercommunicator(MPI_Comm comm, Communicator*& found) {
  if (int code = find_communicator(comm, found)) return code;
  return found->is_inter() ? MPI_SUCCESS : detail::bad_intracommunicator(found);
}

/// Any datatype but a null one.
inline int find_datatype(Communicator* communicator, MPI_Datatype datatype, Datatype*& found) {
  found = runtime().datatypes.find(datatype);
  return found ? MPI_SUCCESS : detail::bad_datatype(communicator, datatype, nullptr);
}

/// A datatype that may be used in communication.
inline int find_committed(Communicator* communicator, MPI_Datatype datatype, Datatype*& found) {
  found = runtime().datatypes.find(datatype);
  return found && found->is_committed() ? MPI_SUCCESS : detail::bad_datatype(communicator, datatype, found);
}

inline int check_count(Communicator* communicator, long long count, const char* what = "count") {
  return count >= 0 ? MPI_SUCCESS : detail::bad_count(communicator, count, what);
}

/// A null buffer (MPI_BOTTOM) is right only without data, or for a type with absolute addresses. MPI_IN_PLACE
/// is wrong here: ask for it before.
inline int check_buffer(Communicator* communicator, const void* buffer, long long count,
                        const Datatype& datatype) {
  const bool missing =
      buffer == nullptr && count > 0 && datatype.size() > 0 && datatype.true_lower_bound() == 0;
  return missing || buffer == MPI_IN_PLACE ? detail::bad_buffer(communicator, buffer) : MPI_SUCCESS;
}

/// The rank of a member or MPI_PROC_NULL.
inline int check_destination(Communicator* communicator, int rank) {
  const bool good = (rank >= 0 && rank < communicator->peers().size()) || rank == MPI_PROC_NULL;
  return good ? MPI_SUCCESS : detail::bad_rank(communicator, rank, "destination");
}
/// The rank of a member, MPI_PROC_NULL or MPI_ANY_SOURCE.
inline int check_source(Communicator* communicator, int rank) {
  const bool good =
      (rank >= 0 && rank < communicator->peers().size()) || rank == MPI_PROC_NULL || rank == MPI_ANY_SOURCE;
  return good ? MPI_SUCCESS : detail::bad_rank(communicator, rank, "source");
}
inline int check_root(Communicator* communicator, int root) {
  return root >= 0 && root < communicator->size() ? MPI_SUCCESS : detail::bad_root(communicator, root);
}

inline int check_send_tag(Communicator* communicator, int tag) {
  return tag >= 0 && tag <= runtime().attributes.tag_upper_bound ? MPI_SUCCESS
                                                                 : detail::bad_tag(communicator, tag, false);
}
inline int check_receive_tag(Communicator* communicator, int tag) {
  const bool good = (tag >= 0 && tag <= runtime().attributes.tag_upper_bound) || tag == MPI_ANY_TAG;
  return good ? MPI_SUCCESS : detail::bad_tag(communicator, tag, true);
}

/// An operation that takes elements of this type.
inline int find_operation(Communicator* communicator, MPI_Op op, const Datatype& datatype,
                          Operation*& found) {
  found = runtime().operations.find(op);
  return found && found->accepts(datatype) ? MPI_SUCCESS
                                           : detail::bad_operation(communicator, op, found, &datatype);
}

/// A number as MPI gives it to an int or an MPI_Count: MPI_UNDEFINED where it does not fit (4.1.5).
template <typename Integer>
Integer if_it_fits(MPI_Count number) {
  return std::in_range<Integer>(number) ? static_cast<Integer>(number) : Integer{MPI_UNDEFINED};
}

/// For results and lists that must be there: MPI_ERR_ARG.
inline int check_pointer(Communicator* communicator, const void* pointer, const char* what) {
  return pointer ? MPI_SUCCESS : detail::null_pointer(communicator, what);
}

}  // namespace llamada::mpi
