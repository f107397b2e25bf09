#pragma once

#include <mpi.h>

#include <utility>

#include "object/error_handler.hpp"
#include "object/reference.hpp"

namespace llamada::mpi {

/// A session (MPI 4.0, 11.3): what MPI_Session_init gives. The library is there while one is open, or while
/// MPI is initialised.
class Session : public Counted {
 public:
  Session(Reference<ErrorHandler> error_handler, int thread_level)
      : error_handler_(std::move(error_handler)), thread_level_(thread_level) {}

  MPI_Session handle = MPI_SESSION_NULL;
  int thread_level() const { return thread_level_; }
  const Reference<ErrorHandler>& error_handler() const { return error_handler_; }
  void set_error_handler(Reference<ErrorHandler> handler) { error_handler_ = std::move(handler); }

 private:
  Reference<ErrorHandler> error_handler_;
  int thread_level_;
};

}  // namespace llamada::mpi
