#pragma once

#include <mpi.h>

#include "io/api.hpp"
#include "object/error_handler_table.hpp"
#include "rma/api_common.hpp"
#include "runtime/arguments.hpp"
#include "session/session.hpp"

// The kinds of objects that have error handlers or attributes, each with what its functions need to know of
// it:
//
//   find(handle, object)   MPI_SUCCESS, or the code of an error that has been reported
//   refuse(object, …)      reports an error; a null object: to what find() reports to
//   error handlers (MPI 3.1, 8.3): handlers_for, handler_of, set_handler, call_handler
//   attributes (6.7): owner, reports_wrong_keys, attributes_of, predefined
//
// They have no state: functions are templates over them.
namespace llamada::mpi::kinds {

/// A predefined attribute of an object; `value` is what MPI_Comm_get_attr and its like give.
struct Predefined {
  bool is_set = false;
  void* value = nullptr;
};

/// Objects that keep their error handler themselves.
template <typename T>
struct KeepingHandlers {
  using Object = T*;

  static Reference<ErrorHandler> handler_of(Object object) { return object->error_handler(); }
  static void set_handler(Object object, Reference<ErrorHandler> handler) {
    object->set_error_handler(std::move(handler));
  }
};

/// Of these a null object has its errors reported to MPI_COMM_WORLD.
template <typename T>
struct ReportingToWorld : KeepingHandlers<T> {
  static int refuse(T* object, int error_class, std::string text) {
    return object ? report(*object, error_class, std::move(text))
                  : report(nullptr, error_class, std::move(text));
  }
  static void call_handler(T* object, int code) { call_error_handler(*object, code); }
};

struct Communicators : KeepingHandlers<Communicator> {
  using Handle = MPI_Comm;
  static constexpr auto handlers_for = ErrorHandler::For::communicators;
  static constexpr Keyval::Owner owner = Keyval::Owner::communicator;
  static constexpr bool reports_wrong_keys = true;

  static int find(Handle handle, Object& found) { return find_communicator(handle, found); }
  static int refuse(Object object, int error_class, std::string text) {
    return report(object, error_class, std::move(text));
  }

  static void call_handler(Object object, int code) { call_error_handler(object, code); }

  static Attributes& attributes_of(Object object) { return object->attributes(); }
  static std::optional<Predefined> predefined(Object object, int keyval);
};

struct Windows : ReportingToWorld<Window> {
  using Handle = MPI_Win;
  static constexpr auto handlers_for = ErrorHandler::For::windows;
  static constexpr Keyval::Owner owner = Keyval::Owner::window;
  static constexpr bool reports_wrong_keys = false;

  static int find(Handle handle, Object& found) { return rma::find_window(handle, found); }

  static Attributes& attributes_of(Object object) { return object->attributes(); }
  static std::optional<Predefined> predefined(Object object, int keyval) {
    const auto value = object->predefined_attribute(keyval);
    return value ? std::optional(Predefined{true, *value}) : std::nullopt;
  }
};

struct Sessions : ReportingToWorld<Session> {
  using Handle = MPI_Session;
  static constexpr auto handlers_for = ErrorHandler::For::sessions;

  static int find(Handle handle, Object& found) { return find_session(handle, found); }
};

/// The null object is MPI_FILE_NULL, which stands for the files that will be opened (13.7).
struct Files {
  using Handle = MPI_File;
  using Object = io::File*;
  static constexpr auto handlers_for = ErrorHandler::For::files;

  static int find(Handle handle, Object& found) {
    found = nullptr;
    return handle == MPI_FILE_NULL ? MPI_SUCCESS : io::find_file(handle, found);
  }
  static int refuse(Object object, int error_class, std::string text) {
    return io::report_file(object, error_class, std::move(text));
  }

  static Reference<ErrorHandler>& handler_of(Object object) {
    return object ? object->error_handler : io::files().default_handler;
  }
  static void set_handler(Object object, Reference<ErrorHandler> handler) {
    handler_of(object) = std::move(handler);
  }
  static void call_handler(Object object, int code) { io::call_file_handler(object, code); }
};

/// Errors go to MPI_COMM_WORLD.
struct Datatypes {
  using Handle = MPI_Datatype;
  using Object = Datatype*;
  static constexpr Keyval::Owner owner = Keyval::Owner::datatype;
  static constexpr bool reports_wrong_keys = true;

  static int find(Handle handle, Object& found) { return find_datatype(nullptr, handle, found); }
  static int refuse(Object, int error_class, std::string text) {
    return report(nullptr, error_class, std::move(text));
  }

  static Attributes& attributes_of(Object object) { return object->attributes(); }
  static std::optional<Predefined> predefined(Object, int) { return std::nullopt; }
};

template <typename Kind>
int check_pointer(typename Kind::Object object, const void* pointer, const char* what) {
  return pointer ? MPI_SUCCESS
                 : Kind::refuse(object, MPI_ERR_ARG, fmt::format("the {} is a null pointer", what));
}

}  // namespace llamada::mpi::kinds
