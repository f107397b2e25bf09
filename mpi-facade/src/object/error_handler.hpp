#pragma once

#include <mpi.h>

#include "object/reference.hpp"

namespace llamada::mpi {

/// What to do about an error (MPI 3.1, 8.3).
class ErrorHandler : public Counted {
 public:
  /// `aborts` (MPI 4.0, 9.3) is to end the processes of the object alone; as under MPICH it ends the job.
  enum class Kind { fatal, aborts, returns, user };

  explicit ErrorHandler(Kind kind) : kind_(kind) {}
  explicit ErrorHandler(MPI_Comm_errhandler_function* function) : kind_(Kind::user), function_(function) {}

  explicit ErrorHandler(MPI_File_errhandler_function* function)
      : kind_(Kind::user), file_function_(function) {}

  Kind kind() const { return kind_; }
  bool ends_job() const { return kind_ == Kind::fatal || kind_ == Kind::aborts; }
  /// The program's handle, which it may hold several times: each MPI_Comm_get_errhandler is to be freed
  /// (8.3.4).
  MPI_Errhandler handle = MPI_ERRHANDLER_NULL;
  int handle_uses = 0;
  /// Null when it is for other objects.
  MPI_Comm_errhandler_function* function() const { return function_; }
  MPI_File_errhandler_function* file_function() const { return file_function_; }

 private:
  Kind kind_;
  MPI_Comm_errhandler_function* function_ = nullptr;
  MPI_File_errhandler_function* file_function_ = nullptr;
};

}  // namespace llamada::mpi
