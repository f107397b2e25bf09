#pragma once

#include <mpi.h>

#include "object/reference.hpp"

namespace llamada::mpi {

/// What to do about an error (MPI 3.1, 8.3).
class ErrorHandler : public Counted {
 public:
  enum class Kind { fatal, returns, user };

  explicit ErrorHandler(Kind kind) : kind_(kind) {}
  explicit ErrorHandler(MPI_Comm_errhandler_function* function) : kind_(Kind::user), function_(function) {}

  Kind kind() const { return kind_; }
  /// The program's handle, which it may hold several times: each MPI_Comm_get_errhandler is to be freed
  /// (8.3.4).
  MPI_Errhandler handle = MPI_ERRHANDLER_NULL;
  int handle_uses = 0;
  MPI_Comm_errhandler_function* function() const { return function_; }

 private:
  Kind kind_;
  MPI_Comm_errhandler_function* function_ = nullptr;
};

}  // namespace llamada::mpi
