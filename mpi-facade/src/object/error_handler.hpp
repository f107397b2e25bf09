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
  MPI_Comm_errhandler_function* function() const { return function_; }

 private:
  Kind kind_;
  MPI_Comm_errhandler_function* function_ = nullptr;
};

}  // namespace llamada::mpi
