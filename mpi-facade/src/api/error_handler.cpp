#include "api/object_kinds.hpp"
#include "runtime/any_time.hpp"

// MPI 3.1, 8.3: error handlers of communicators, windows, files and sessions (MPI 4.0, 9.3.4), with the names
// of MPI-1 (15.1).
using namespace llamada::mpi;

namespace {

template <typename Kind, typename Function>
int create_handler(Function* function, MPI_Errhandler* handler) {
  if (int code = kinds::check_pointer<Kind>(nullptr, reinterpret_cast<const void*>(function), "function"))
    return code;
  if (int code = kinds::check_pointer<Kind>(nullptr, handler, "error handler")) return code;
  *handler = give_handler(make_counted<ErrorHandler>(function, Kind::handlers_for));
  return MPI_SUCCESS;
}

template <typename Kind>
int set_handler(typename Kind::Handle handle, MPI_Errhandler handler) {
  typename Kind::Object object = nullptr;
  if (int code = Kind::find(handle, object)) return code;
  auto found = find_error_handler(handler, Kind::handlers_for);
  if (!found) return Kind::refuse(object, MPI_ERR_ARG, found.error().text());
  Kind::set_handler(object, std::move(*found));
  return MPI_SUCCESS;
}

template <typename Kind>
int get_handler(typename Kind::Handle handle, MPI_Errhandler* handler) {
  typename Kind::Object object = nullptr;
  if (int code = Kind::find(handle, object)) return code;
  if (int code = kinds::check_pointer<Kind>(object, handler, "error handler")) return code;
  *handler = give_handler(Kind::handler_of(object));
  return MPI_SUCCESS;
}

template <typename Kind>
int call_handler(typename Kind::Handle handle, int code) {
  typename Kind::Object object = nullptr;
  if (int failed = Kind::find(handle, object)) return failed;
  Kind::call_handler(object, code);
  return MPI_SUCCESS;
}

}  // namespace

MPI_Errhandler llamada::mpi::give_handler(const Reference<ErrorHandler>& handler) {
  if (handler->kind() == ErrorHandler::Kind::fatal) return MPI_ERRORS_ARE_FATAL;
  if (handler->kind() == ErrorHandler::Kind::aborts) return MPI_ERRORS_ABORT;
  if (handler->kind() == ErrorHandler::Kind::returns) return MPI_ERRORS_RETURN;
  if (handler->kind() == ErrorHandler::Kind::throws) return errors_throw_exceptions;
  if (handler->handle_uses++ == 0) handler->handle = error_handler_table().insert(handler);
  return handler->handle;
}

LLAMADA_MPI_FUNCTION(Comm_create_errhandler)
int PMPI_Comm_create_errhandler(MPI_Comm_errhandler_function* function, MPI_Errhandler* handler) {
  LLAMADA_MPI_ENTER(Comm_create_errhandler);
  return create_handler<kinds::Communicators>(function, handler);
}

LLAMADA_MPI_FUNCTION(Comm_set_errhandler)
int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler) {
  LLAMADA_MPI_ENTER(Comm_set_errhandler);
  return set_handler<kinds::Communicators>(comm, handler);
}

LLAMADA_MPI_FUNCTION(Comm_get_errhandler)
int PMPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler* handler) {
  LLAMADA_MPI_ENTER(Comm_get_errhandler);
  return get_handler<kinds::Communicators>(comm, handler);
}

LLAMADA_MPI_FUNCTION(Comm_call_errhandler)
int PMPI_Comm_call_errhandler(MPI_Comm comm, int code) {
  LLAMADA_MPI_ENTER(Comm_call_errhandler);
  return call_handler<kinds::Communicators>(comm, code);
}

LLAMADA_MPI_FUNCTION(Errhandler_create)
int PMPI_Errhandler_create(MPI_Handler_function* function, MPI_Errhandler* handler) {
  LLAMADA_MPI_ENTER(Errhandler_create);
  return create_handler<kinds::Communicators>(function, handler);
}

LLAMADA_MPI_FUNCTION(Errhandler_set)
int PMPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler handler) {
  LLAMADA_MPI_ENTER(Errhandler_set);
  return set_handler<kinds::Communicators>(comm, handler);
}

LLAMADA_MPI_FUNCTION(Errhandler_get)
int PMPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler* handler) {
  LLAMADA_MPI_ENTER(Errhandler_get);
  return get_handler<kinds::Communicators>(comm, handler);
}

LLAMADA_MPI_FUNCTION(Win_create_errhandler)
int PMPI_Win_create_errhandler(MPI_Win_errhandler_function* function, MPI_Errhandler* handler) {
  LLAMADA_MPI_ENTER(Win_create_errhandler);
  return create_handler<kinds::Windows>(function, handler);
}

LLAMADA_MPI_FUNCTION(Win_set_errhandler)
int PMPI_Win_set_errhandler(MPI_Win win, MPI_Errhandler handler) {
  LLAMADA_MPI_ENTER(Win_set_errhandler);
  return set_handler<kinds::Windows>(win, handler);
}

LLAMADA_MPI_FUNCTION(Win_get_errhandler)
int PMPI_Win_get_errhandler(MPI_Win win, MPI_Errhandler* handler) {
  LLAMADA_MPI_ENTER(Win_get_errhandler);
  return get_handler<kinds::Windows>(win, handler);
}

LLAMADA_MPI_FUNCTION(Win_call_errhandler)
int PMPI_Win_call_errhandler(MPI_Win win, int code) {
  LLAMADA_MPI_ENTER(Win_call_errhandler);
  return call_handler<kinds::Windows>(win, code);
}

LLAMADA_MPI_FUNCTION(File_create_errhandler)
int PMPI_File_create_errhandler(MPI_File_errhandler_function* function, MPI_Errhandler* handler) {
  LLAMADA_MPI_ENTER(File_create_errhandler);
  return create_handler<kinds::Files>(function, handler);
}

LLAMADA_MPI_FUNCTION(File_set_errhandler)
int PMPI_File_set_errhandler(MPI_File file, MPI_Errhandler handler) {
  LLAMADA_MPI_ENTER(File_set_errhandler);
  return set_handler<kinds::Files>(file, handler);
}

LLAMADA_MPI_FUNCTION(File_get_errhandler)
int PMPI_File_get_errhandler(MPI_File file, MPI_Errhandler* handler) {
  LLAMADA_MPI_ENTER(File_get_errhandler);
  return get_handler<kinds::Files>(file, handler);
}

LLAMADA_MPI_FUNCTION(File_call_errhandler)
int PMPI_File_call_errhandler(MPI_File file, int code) {
  LLAMADA_MPI_ENTER(File_call_errhandler);
  return call_handler<kinds::Files>(file, code);
}

LLAMADA_MPI_FUNCTION(Session_create_errhandler)
int PMPI_Session_create_errhandler(MPI_Session_errhandler_function* function, MPI_Errhandler* handler) {
  LLAMADA_MPI_ENTER_AT_ANY_TIME(Session_create_errhandler);
  return create_handler<kinds::Sessions>(function, handler);
}

LLAMADA_MPI_FUNCTION(Session_set_errhandler)
int PMPI_Session_set_errhandler(MPI_Session session, MPI_Errhandler handler) {
  LLAMADA_MPI_ENTER(Session_set_errhandler);
  return set_handler<kinds::Sessions>(session, handler);
}

LLAMADA_MPI_FUNCTION(Session_get_errhandler)
int PMPI_Session_get_errhandler(MPI_Session session, MPI_Errhandler* handler) {
  LLAMADA_MPI_ENTER(Session_get_errhandler);
  return get_handler<kinds::Sessions>(session, handler);
}

LLAMADA_MPI_FUNCTION(Session_call_errhandler)
int PMPI_Session_call_errhandler(MPI_Session session, int code) {
  LLAMADA_MPI_ENTER_AT_ANY_TIME(Session_call_errhandler);
  return call_handler<kinds::Sessions>(session, code);
}

LLAMADA_MPI_FUNCTION(Errhandler_free)
int PMPI_Errhandler_free(MPI_Errhandler* handler) {
  LLAMADA_MPI_ENTER_AT_ANY_TIME(Errhandler_free);
  if (int code = check_pointer(nullptr, handler, "error handler")) return code;
  ErrorHandler* found = error_handler_table().find(*handler);
  if (!found) return report(nullptr, MPI_ERR_ARG, "the error handler is null, or was freed");
  if (found->kind() == ErrorHandler::Kind::user && --found->handle_uses == 0)
    error_handler_table().erase(*handler);
  *handler = MPI_ERRHANDLER_NULL;
  return MPI_SUCCESS;
}
