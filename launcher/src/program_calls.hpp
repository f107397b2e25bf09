#pragma once

#include <string>

namespace llamada::launcher {

/// Whether this file names MPI_Comm_spawn or MPI_Comm_spawn_multiple, as a program that calls it from C or
/// from Fortran does. A program that calls it only by way of a library or an interpreter does not. False for
/// a file that cannot be read.
bool names_spawn(const std::string& file);

}  // namespace llamada::launcher
