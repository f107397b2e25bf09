#pragma once

#include "object/error_handler.hpp"
#include "object/handle.hpp"

namespace llamada::mpi {

/// MPI::ERRORS_THROW_EXCEPTIONS, as a library of C++ bindings built for MPICH names it.
inline constexpr MPI_Errhandler errors_throw_exceptions = 0x54000002;

/// The error handlers of the process, with the predefined ones. They live apart from all else of MPI, because
/// a program may make and free those of sessions before MPI_Init and after MPI_Finalize (MPI 4.0, 11.4.1).
/// Threads: as info_table().
HandleTable<ErrorHandler, ObjectKind::error_handler>& error_handler_table();

}  // namespace llamada::mpi
