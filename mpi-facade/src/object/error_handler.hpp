#pragma once

#include <mpi.h>

#include "object/reference.hpp"

namespace llamada::mpi {

/// How a library of C++ bindings built for MPICH has the program's error handlers called
/// (MPII_Errhandler_set_cxx). `owner` is 0 for a communicator, 1 for a file, 2 for a window; `handle` points
/// to the C handle.
using CxxErrorProxy = void(int owner, void* handle, int* code, void (*function)());

/// What to do about an error (MPI 3.1, 8.3).
class ErrorHandler : public Counted {
 public:
  static constexpr bool shared_between_threads = true;  ///< predefined ones lie in one table of the process

  /// `aborts` (MPI 4.0, 9.3) is to end the processes of the object alone; as under MPICH it ends the job.
  /// `throws` is MPI::ERRORS_THROW_EXCEPTIONS: the C function returns, and the C++ binding throws.
  enum class Kind { fatal, aborts, returns, throws, user };

  /// The objects that have error handlers.
  enum class For { communicators, windows, files, sessions };

  explicit ErrorHandler(Kind kind) : kind_(kind) {}
  /// Functions for communicators, windows and sessions have one shape; those for files have another.
  ErrorHandler(MPI_Comm_errhandler_function* function, For objects)
      : kind_(Kind::user), objects_(objects), function_(function) {}
  ErrorHandler(MPI_File_errhandler_function* function, For objects)
      : kind_(Kind::user), objects_(objects), file_function_(function) {}

  Kind kind() const { return kind_; }
  bool ends_job() const { return kind_ == Kind::fatal || kind_ == Kind::aborts; }
  /// A handler of the program's fits the objects that it was made for; a predefined one fits all.
  bool fits(For objects) const { return kind_ != Kind::user || objects_ == objects; }
  /// The program's handle, which it may hold several times: each MPI_Comm_get_errhandler is to be freed
  /// (8.3.4).
  MPI_Errhandler handle = MPI_ERRHANDLER_NULL;
  int handle_uses = 0;
  /// Null when it is for other objects.
  MPI_Comm_errhandler_function* function() const { return function_; }
  MPI_File_errhandler_function* file_function() const { return file_function_; }

  void set_cxx(CxxErrorProxy* proxy) { proxy_ = proxy; }
  /// Calls the program's function, which may change the code.
  void call(MPI_Comm* handle, int* code, bool is_window) const {
    if (proxy_) return proxy_(is_window ? 2 : 0, handle, code, reinterpret_cast<void (*)()>(function_));
    function_(handle, code);
  }
  void call(MPI_File* handle, int* code) const {
    if (proxy_) return proxy_(1, handle, code, reinterpret_cast<void (*)()>(file_function_));
    file_function_(handle, code);
  }

 private:
  Kind kind_;
  For objects_ = For::communicators;  // of a user's
  MPI_Comm_errhandler_function* function_ = nullptr;
  MPI_File_errhandler_function* file_function_ = nullptr;
  CxxErrorProxy* proxy_ = nullptr;
};

}  // namespace llamada::mpi
