#pragma once

#include "llamada/base/result.hpp"
#include "object/error_handler.hpp"
#include "object/handle.hpp"

namespace llamada::mpi {

/// MPI::ERRORS_THROW_EXCEPTIONS, as a library of C++ bindings built for MPICH names it.
inline constexpr MPI_Errhandler errors_throw_exceptions = 0x54000002;

/// The error handlers of the process, with the predefined ones. They live apart from all else of MPI, because
/// a program may make and free those of sessions before MPI_Init and after MPI_Finalize (MPI 4.0, 11.4.1).
/// Threads: as info_table().
HandleTable<ErrorHandler, ObjectKind::error_handler>& error_handler_table();

/// The error handler that a program gives to such an object: each call that takes one asks here.
/// Errors: invalid_argument (the handle is null or was freed, or its function is for other objects).
Result<Reference<ErrorHandler>> find_error_handler(MPI_Errhandler handler, ErrorHandler::For objects);

}  // namespace llamada::mpi
