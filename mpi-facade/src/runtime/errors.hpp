#pragma once

#include <mpi.h>

#include <string>

#include "llamada/base/result.hpp"
#include "object/communicator.hpp"
#include "object/error_handler.hpp"
#include "object/session.hpp"

/// The one place where a failure becomes what the program sees (MPI 3.1, 8.3). Error codes are the classes
/// themselves, so that programs which compare a code with a class are right.
namespace llamada::mpi {

/// An object other than a communicator whose error handler is called: a window, a session.
struct FailedObject {
  Reference<ErrorHandler> handler;
  int handle;               ///< given to the program's function
  std::string description;  ///< in messages
};

/// Gives a failure of the current MPI call to the error handler of `communicator` (of MPI_COMM_WORLD when
/// null): the fatal one says function, rank, communicator and `text` and ends the job; otherwise the code is
/// returned, for the C function to return. `text` is kept for MPI_Error_string in the same thread.
int report(Communicator* communicator, int error_class, std::string text);
/// The same with MPI_ERR_OTHER, MPI_ERR_ARG or what else fits the error.
int report(Communicator* communicator, const Error& error);

/// The class of such an error.
int error_class_for(Errc code);

/// The same for the error handler of another object.
int report(const FailedObject& object, int error_class, std::string text);
int report(Session& session, int error_class, std::string text);

/// Calls the error handler with a code that is known already: MPI_Comm_call_errhandler, and functions with
/// many statuses.
int call_error_handler(Communicator* communicator, int code);
int call_error_handler(const FailedObject& object, int code);
int call_error_handler(Session& session, int code);

/// A handle for the program; one of a user's handler is held once more (8.3.4).
MPI_Errhandler give_handler(const Reference<ErrorHandler>& handler);

/// What error_text() says behind the words for a class, in this thread, until the next of the class.
void keep_particulars(int error_class, std::string text);

/// "MPI_Send": the function that the rank is in.
std::string failed_call();

/// A sentence for a code; the last particulars of its class behind it, if there are any.
std::string error_text(int code);
/// The class of a code; MPI_ERR_UNKNOWN when it is none.
int error_class_of(int code);

/// Ends the job with exit code 1 and one sentence on stderr, whatever the error handlers say.
[[noreturn]] void fatal(const std::string& text);

}  // namespace llamada::mpi
