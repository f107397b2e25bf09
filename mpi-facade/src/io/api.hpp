#pragma once

#include <mpi.h>

#include "io/file.hpp"
#include "runtime/arguments.hpp"

// What the C functions of files share. As in api/arguments.hpp, each check gives MPI_SUCCESS or has reported
// the error and gives the code to return.
namespace llamada::mpi::io {

inline int find_file(MPI_File handle, File*& found) {
  found = files().find(handle);
  if (found) return MPI_SUCCESS;
  return report_file(
      nullptr, MPI_ERR_FILE,
      handle == MPI_FILE_NULL ? "the file is MPI_FILE_NULL" : "the file is none, or was closed");
}

inline int check_file_pointer(File* file, const void* pointer, const char* what) {
  return pointer ? MPI_SUCCESS
                 : report_file(file, MPI_ERR_ARG, fmt::format("the {} is a null pointer", what));
}

inline int check_info(File* file, MPI_Info info) {
  if (info == MPI_INFO_NULL || runtime().infos.find(info)) return MPI_SUCCESS;
  return report_file(file, MPI_ERR_INFO, "the info object was freed, or is none");
}

/// Takes those hints that there are.
void take_hints(File& file, MPI_Info info);

}  // namespace llamada::mpi::io
