#include "object/error_handler_table.hpp"
#include "rma/api_common.hpp"
#include "runtime/any_time.hpp"
#include "runtime/arguments.hpp"
#include "runtime/strings.hpp"
#include "session/session.hpp"

// MPI 3.1, 8.3 to 8.5: error handlers, classes and codes, with the names of MPI-1 (15.1).
using namespace llamada::mpi;

namespace {

int create_handler(MPI_Comm_errhandler_function* function, MPI_Errhandler* handler) {
  if (int code = check_pointer(nullptr, reinterpret_cast<const void*>(function), "function")) return code;
  if (int code = check_pointer(nullptr, handler, "error handler")) return code;
  *handler = give_handler(make_counted<ErrorHandler>(function));
  return MPI_SUCCESS;
}

int set_handler(MPI_Comm comm, MPI_Errhandler handler) {
  Communicator* communicator = nullptr;
  if (int code = find_communicator(comm, communicator)) return code;
  const Reference<ErrorHandler> found(error_handler_table().find(handler));
  if (!found) return report(communicator, MPI_ERR_ARG, "the error handler is null, or was freed");
  if (found->kind() == ErrorHandler::Kind::user && !found->function())
    return report(communicator, MPI_ERR_ARG, "the error handler is not for communicators");
  communicator->set_error_handler(found);
  return MPI_SUCCESS;
}

int get_handler(MPI_Comm comm, MPI_Errhandler* handler) {
  Communicator* communicator = nullptr;
  if (int code = find_communicator(comm, communicator)) return code;
  if (int code = check_pointer(communicator, handler, "error handler")) return code;
  *handler = give_handler(communicator->error_handler());
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
  return create_handler(function, handler);
}

LLAMADA_MPI_FUNCTION(Errhandler_create)
int PMPI_Errhandler_create(MPI_Handler_function* function, MPI_Errhandler* handler) {
  LLAMADA_MPI_ENTER(Errhandler_create);
  return create_handler(function, handler);
}

LLAMADA_MPI_FUNCTION(Comm_set_errhandler)
int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler) {
  LLAMADA_MPI_ENTER(Comm_set_errhandler);
  return set_handler(comm, handler);
}

LLAMADA_MPI_FUNCTION(Errhandler_set)
int PMPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler handler) {
  LLAMADA_MPI_ENTER(Errhandler_set);
  return set_handler(comm, handler);
}

LLAMADA_MPI_FUNCTION(Comm_get_errhandler)
int PMPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler* handler) {
  LLAMADA_MPI_ENTER(Comm_get_errhandler);
  return get_handler(comm, handler);
}

LLAMADA_MPI_FUNCTION(Errhandler_get)
int PMPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler* handler) {
  LLAMADA_MPI_ENTER(Errhandler_get);
  return get_handler(comm, handler);
}

LLAMADA_MPI_FUNCTION(Session_create_errhandler)
int PMPI_Session_create_errhandler(MPI_Session_errhandler_function* session_errhandler_fn,
                                   MPI_Errhandler* handler) {
  LLAMADA_MPI_ENTER_AT_ANY_TIME(Session_create_errhandler);
  return create_handler(session_errhandler_fn, handler);
}

LLAMADA_MPI_FUNCTION(Session_set_errhandler)
int PMPI_Session_set_errhandler(MPI_Session session, MPI_Errhandler handler) {
  LLAMADA_MPI_ENTER(Session_set_errhandler);
  Session* found = nullptr;
  if (int code = find_session(session, found)) return code;
  const Reference<ErrorHandler> known(error_handler_table().find(handler));
  if (!known) return report(*found, MPI_ERR_ARG, "the error handler is null, or was freed");
  found->set_error_handler(known);
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Session_get_errhandler)
int PMPI_Session_get_errhandler(MPI_Session session, MPI_Errhandler* handler) {
  LLAMADA_MPI_ENTER(Session_get_errhandler);
  Session* found = nullptr;
  if (int code = find_session(session, found)) return code;
  if (handler == nullptr) return report(*found, MPI_ERR_ARG, "the error handler is a null pointer");
  *handler = give_handler(found->error_handler());
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Session_call_errhandler)
int PMPI_Session_call_errhandler(MPI_Session session, int error_code) {
  LLAMADA_MPI_ENTER_AT_ANY_TIME(Session_call_errhandler);
  Session* found = nullptr;
  if (int code = find_session(session, found)) return code;
  call_error_handler(*found, error_code);
  return MPI_SUCCESS;
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

LLAMADA_MPI_FUNCTION(Comm_call_errhandler)
int PMPI_Comm_call_errhandler(MPI_Comm comm, int code) {
  LLAMADA_MPI_ENTER(Comm_call_errhandler);
  Communicator* communicator = nullptr;
  if (int failed = find_communicator(comm, communicator)) return failed;
  call_error_handler(communicator, code);
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Win_create_errhandler)
int PMPI_Win_create_errhandler(MPI_Win_errhandler_function* function, MPI_Errhandler* handler) {
  LLAMADA_MPI_ENTER(Win_create_errhandler);
  return create_handler(function, handler);
}

LLAMADA_MPI_FUNCTION(Win_set_errhandler)
int PMPI_Win_set_errhandler(MPI_Win win, MPI_Errhandler handler) {
  LLAMADA_MPI_ENTER(Win_set_errhandler);
  Window* window = nullptr;
  if (int code = rma::find_window(win, window)) return code;
  const Reference<ErrorHandler> found(error_handler_table().find(handler));
  if (!found) return report(*window, MPI_ERR_ARG, "the error handler is null, or was freed");
  if (found->kind() == ErrorHandler::Kind::user && !found->function())
    return report(*window, MPI_ERR_ARG, "the error handler is not for windows");
  window->set_error_handler(found);
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Win_get_errhandler)
int PMPI_Win_get_errhandler(MPI_Win win, MPI_Errhandler* handler) {
  LLAMADA_MPI_ENTER(Win_get_errhandler);
  Window* window = nullptr;
  if (int code = rma::find_window(win, window)) return code;
  if (int code = rma::check_pointer(*window, handler, "error handler")) return code;
  *handler = give_handler(window->error_handler());
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Win_call_errhandler)
int PMPI_Win_call_errhandler(MPI_Win win, int code) {
  LLAMADA_MPI_ENTER(Win_call_errhandler);
  Window* window = nullptr;
  if (int failed = rma::find_window(win, window)) return failed;
  call_error_handler(*window, code);
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Error_string)
int PMPI_Error_string(int code, char* text, int* length) {
  LLAMADA_MPI_ENTER_AT_ANY_TIME(Error_string);
  if (int failed = check_pointer(nullptr, text, "text")) return failed;
  if (int failed = check_pointer(nullptr, length, "length")) return failed;
  give_string(error_text(code).substr(0, MPI_MAX_ERROR_STRING - 1), text, length);
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Error_class)
int PMPI_Error_class(int code, int* error_class) {
  LLAMADA_MPI_ENTER_AT_ANY_TIME(Error_class);
  if (int failed = check_pointer(nullptr, error_class, "error class")) return failed;
  *error_class = error_class_of(code);
  return MPI_SUCCESS;
}

namespace {

int add_code(std::optional<int> error_class) {
  AddedErrors& errors = runtime().added_errors;
  const int code = MPI_ERR_LASTCODE + 1 + static_cast<int>(errors.entries.size());
  errors.entries.push_back({error_class.value_or(code), ""});
  errors.last_used = code;
  return code;
}

}  // namespace

LLAMADA_MPI_FUNCTION(Add_error_class)
int PMPI_Add_error_class(int* error_class) {
  LLAMADA_MPI_ENTER(Add_error_class);
  if (int failed = check_pointer(nullptr, error_class, "error class")) return failed;
  *error_class = add_code(std::nullopt);
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Add_error_code)
int PMPI_Add_error_code(int error_class, int* code) {
  LLAMADA_MPI_ENTER(Add_error_code);
  if (int failed = check_pointer(nullptr, code, "error code")) return failed;
  if (error_class_of(error_class) != error_class) {
    return report(nullptr, MPI_ERR_ARG, fmt::format("{} is no error class", error_class));
  }
  *code = add_code(error_class);
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Add_error_string)
int PMPI_Add_error_string(int code, const char* text) {
  LLAMADA_MPI_ENTER(Add_error_string);
  if (int failed = check_pointer(nullptr, text, "text")) return failed;
  auto& entries = runtime().added_errors.entries;
  const long long index = static_cast<long long>(code) - MPI_ERR_LASTCODE - 1;
  if (index < 0 || index >= static_cast<long long>(entries.size())) {
    return report(nullptr, MPI_ERR_ARG, fmt::format("{} is no error code that was added", code));
  }
  entries[static_cast<std::size_t>(index)].text.assign(text, strnlen(text, MPI_MAX_ERROR_STRING - 1));
  return MPI_SUCCESS;
}
