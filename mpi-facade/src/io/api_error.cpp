#include "io/api.hpp"

// MPI 3.1, 8.3.3: error handlers of files; 17.2.4: their handles in Fortran.
using namespace llamada;
using namespace llamada::mpi;
using namespace llamada::mpi::io;

namespace {

/// MPI_FILE_NULL stands for the files that will be opened: null.
int find_file_or_null(MPI_File handle, File*& found) {
  found = nullptr;
  return handle == MPI_FILE_NULL ? MPI_SUCCESS : find_file(handle, found);
}

Reference<ErrorHandler>& handler_of(File* file) {
  return file ? file->error_handler : files().default_handler;
}

}  // namespace

LLAMADA_MPI_FUNCTION(File_create_errhandler)
int PMPI_File_create_errhandler(MPI_File_errhandler_function* function, MPI_Errhandler* handler) {
  LLAMADA_MPI_ENTER(File_create_errhandler);
  if (int code = check_file_pointer(nullptr, reinterpret_cast<const void*>(function), "function"))
    return code;
  if (int code = check_file_pointer(nullptr, handler, "error handler")) return code;
  *handler = give_handler(make_counted<ErrorHandler>(function));
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(File_set_errhandler)
int PMPI_File_set_errhandler(MPI_File handle, MPI_Errhandler handler) {
  LLAMADA_MPI_ENTER(File_set_errhandler);
  File* file = nullptr;
  if (int code = find_file_or_null(handle, file)) return code;
  const Reference<ErrorHandler> found(runtime().error_handlers.find(handler));
  if (!found) return report_file(file, MPI_ERR_ARG, "the error handler is null, or was freed");
  if (found->kind() == ErrorHandler::Kind::user && !found->file_function())
    return report_file(file, MPI_ERR_ARG, "the error handler is not for files");
  handler_of(file) = found;
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(File_get_errhandler)
int PMPI_File_get_errhandler(MPI_File handle, MPI_Errhandler* handler) {
  LLAMADA_MPI_ENTER(File_get_errhandler);
  File* file = nullptr;
  if (int code = find_file_or_null(handle, file)) return code;
  if (int code = check_file_pointer(file, handler, "error handler")) return code;
  *handler = give_handler(handler_of(file));
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(File_call_errhandler)
int PMPI_File_call_errhandler(MPI_File handle, int code) {
  LLAMADA_MPI_ENTER(File_call_errhandler);
  File* file = nullptr;
  if (int failed = find_file_or_null(handle, file)) return failed;
  call_file_handler(file, code);
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(File_c2f)
MPI_Fint PMPI_File_c2f(MPI_File handle) {
  if (!runtime_if_any()) return 0;
  const File* file = files().find(handle);
  return file ? file->fortran_handle : 0;
}

LLAMADA_MPI_FUNCTION(File_f2c)
MPI_File PMPI_File_f2c(MPI_Fint handle) {
  return runtime_if_any() ? files().find_fortran(handle) : MPI_FILE_NULL;
}
