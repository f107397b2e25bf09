#pragma once

#include <mpi.h>

#include "llamada/waits/report.hpp"

namespace llamada::mpi {

class Communicator;

/// What a request does that is neither a send nor a receive: a nonblocking collective, an I/O operation, a
/// generalized request. Engine::start_task() gives it a handle that all completion calls know (MPI 3.1, 3.7.3
/// to 3.7.6, 12.2); what these answer is recorded and replayed as for messages.
///
/// Threads: the rank's MPI thread.
class Task {
 public:
  virtual ~Task() = default;

  /// Goes on as far as it can without waiting; true when it is complete. Called when it is started and from
  /// progress; not after true. May begin other tasks, but waits for nothing.
  virtual bool step() = 0;
  /// Begins anew: persistent ones, at each MPI_Start, before the first step().
  virtual void start() {}
  /// Fills the status of a complete one, which is empty (3.7.3) before. What it returns is the completion's
  /// error class or code. Called once by the call that completes it for the program, and by each
  /// MPI_Request_get_status that says that it is complete.
  virtual int complete(MPI_Status* /*status*/) { return MPI_SUCCESS; }
  /// MPI_Cancel; `complete`: whether step() has given true. MPI_ERR_REQUEST: it cannot be cancelled.
  virtual int cancel(bool /*complete*/) { return MPI_ERR_REQUEST; }
  /// The request is about to go (12.2). What it returns is the error class or code of the call that lets it
  /// go.
  virtual int free() { return MPI_SUCCESS; }
  /// Whether the program may still name it by its handle after MPI_Request_free, until it is complete.
  virtual bool keeps_handle() const { return false; }

  /// The communicator of the operation: kept alive meanwhile, and its error handler is called. Null:
  /// MPI_COMM_WORLD's is.
  virtual Communicator* communicator() const { return nullptr; }
  /// Says what has to happen before it is complete, for those who look at a waiting rank.
  virtual void describe(waits::Report& report) const { report.add_awaited({}); }
  /// Calls the error handler for an error that complete(), cancel() or free() gave; gives what the MPI
  /// function is to return.
  virtual int report(int code);
};

}  // namespace llamada::mpi
