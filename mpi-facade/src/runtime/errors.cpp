#include "runtime/errors.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>

#include "runtime/entry.hpp"
#include "runtime/runtime.hpp"
#include "threads/shared_waiting.hpp"
#include "world/last_output.hpp"

namespace llamada::mpi {
namespace {

/// What each predefined class means, by its number.
constexpr const char* class_texts[] = {
    "MPI_SUCCESS: no error",
    "MPI_ERR_BUFFER: invalid buffer",
    "MPI_ERR_COUNT: invalid count",
    "MPI_ERR_TYPE: invalid datatype",
    "MPI_ERR_TAG: invalid tag",
    "MPI_ERR_COMM: invalid communicator",
    "MPI_ERR_RANK: invalid rank",
    "MPI_ERR_ROOT: invalid root",
    "MPI_ERR_GROUP: invalid group",
    "MPI_ERR_OP: invalid operation",
    "MPI_ERR_TOPOLOGY: invalid topology",
    "MPI_ERR_DIMS: invalid dimension",
    "MPI_ERR_ARG: invalid argument",
    "MPI_ERR_UNKNOWN: unknown error",
    "MPI_ERR_TRUNCATE: the message is longer than the receive buffer",
    "MPI_ERR_OTHER: another error",
    "MPI_ERR_INTERN: an error within the library",
    "MPI_ERR_IN_STATUS: the error codes are in the statuses",
    "MPI_ERR_PENDING: the request is neither complete nor failed",
    "MPI_ERR_REQUEST: invalid request",
};

std::string class_text(int error_class) {
  if (error_class >= 0 && error_class < static_cast<int>(std::size(class_texts)))
    return class_texts[error_class];
  switch (error_class) {
    case MPIX_ERR_PROC_FAILED:
      return "MPIX_ERR_PROC_FAILED: a process has died";
    case MPIX_ERR_PROC_FAILED_PENDING:
      return "MPIX_ERR_PROC_FAILED_PENDING: a process that might have sent has died; the receive goes on";
    case MPIX_ERR_REVOKED:
      return "MPIX_ERR_REVOKED: the communicator is revoked";
    case MPI_ERR_INFO:
      return "MPI_ERR_INFO: invalid info object";
    case MPI_ERR_INFO_KEY:
      return "MPI_ERR_INFO_KEY: the key is too long or empty";
    case MPI_ERR_INFO_VALUE:
      return "MPI_ERR_INFO_VALUE: the value is too long or empty";
    case MPI_ERR_INFO_NOKEY:
      return "MPI_ERR_INFO_NOKEY: no such key";
    case MPI_ERR_NO_MEM:
      return "MPI_ERR_NO_MEM: out of memory";
    case MPI_ERR_WIN:
      return "MPI_ERR_WIN: invalid window";
    case MPI_ERR_BASE:
      return "MPI_ERR_BASE: invalid base of a window";
    case MPI_ERR_LOCKTYPE:
      return "MPI_ERR_LOCKTYPE: invalid kind of lock";
    case MPI_ERR_RMA_CONFLICT:
      return "MPI_ERR_RMA_CONFLICT: conflicting accesses to a window";
    case MPI_ERR_RMA_SYNC:
      return "MPI_ERR_RMA_SYNC: the call does not fit the synchronisation of the window";
    case MPI_ERR_SIZE:
      return "MPI_ERR_SIZE: invalid size";
    case MPI_ERR_DISP:
      return "MPI_ERR_DISP: invalid displacement";
    case MPI_ERR_ASSERT:
      return "MPI_ERR_ASSERT: invalid assertion";
    case MPI_ERR_RMA_RANGE:
      return "MPI_ERR_RMA_RANGE: the target memory is not part of the window";
    case MPI_ERR_RMA_ATTACH:
      return "MPI_ERR_RMA_ATTACH: the memory cannot be attached or detached";
    case MPI_ERR_RMA_SHARED:
      return "MPI_ERR_RMA_SHARED: the memory cannot be shared";
    case MPI_ERR_RMA_FLAVOR:
      return "MPI_ERR_RMA_FLAVOR: the window is of another kind";
    case MPI_ERR_KEYVAL:
      return "MPI_ERR_KEYVAL: invalid attribute key";
    case MPI_ERR_SESSION:
      return "MPI_ERR_SESSION: invalid session";
    case MPI_ERR_SPAWN:
      return "MPI_ERR_SPAWN: the processes could not be started";
    case MPI_ERR_PORT:
      return "MPI_ERR_PORT: invalid port name";
    case MPI_ERR_SERVICE:
      return "MPI_ERR_SERVICE: the service name is published already, or cannot be withdrawn";
    case MPI_ERR_NAME:
      return "MPI_ERR_NAME: nobody has published the service name";
    case MPI_ERR_ACCESS:
      return "MPI_ERR_ACCESS: permission denied";
    case MPI_ERR_AMODE:
      return "MPI_ERR_AMODE: invalid mode of access";
    case MPI_ERR_BAD_FILE:
      return "MPI_ERR_BAD_FILE: invalid file name";
    case MPI_ERR_CONVERSION:
      return "MPI_ERR_CONVERSION: the data cannot be converted";
    case MPI_ERR_DUP_DATAREP:
      return "MPI_ERR_DUP_DATAREP: there is a representation of this name";
    case MPI_ERR_FILE_EXISTS:
      return "MPI_ERR_FILE_EXISTS: the file exists";
    case MPI_ERR_FILE_IN_USE:
      return "MPI_ERR_FILE_IN_USE: the file is in use";
    case MPI_ERR_FILE:
      return "MPI_ERR_FILE: invalid file handle";
    case MPI_ERR_IO:
      return "MPI_ERR_IO: input or output failed";
    case MPI_ERR_NOT_SAME:
      return "MPI_ERR_NOT_SAME: the arguments of a collective call are not the same on all ranks";
    case MPI_ERR_NO_SPACE:
      return "MPI_ERR_NO_SPACE: no space is left";
    case MPI_ERR_NO_SUCH_FILE:
      return "MPI_ERR_NO_SUCH_FILE: the file does not exist";
    case MPI_ERR_QUOTA:
      return "MPI_ERR_QUOTA: the quota is used up";
    case MPI_ERR_READ_ONLY:
      return "MPI_ERR_READ_ONLY: the file or file system is read-only";
    case MPI_ERR_UNSUPPORTED_DATAREP:
      return "MPI_ERR_UNSUPPORTED_DATAREP: there is no representation of this name";
    case MPI_ERR_UNSUPPORTED_OPERATION:
      return "MPI_ERR_UNSUPPORTED_OPERATION: not supported";
    default:
      return error_class <= MPI_ERR_RMA_FLAVOR ? "an error of class " + std::to_string(error_class) : "";
  }
}

const AddedErrors::Entry* added(int code) {
  const Runtime* runtime = runtime_if_any();
  const long long index = static_cast<long long>(code) - MPI_ERR_LASTCODE - 1;
  if (!runtime || index < 0 || index >= static_cast<long long>(runtime->added_errors.entries.size()))
    return nullptr;
  return &runtime->added_errors.entries[static_cast<std::size_t>(index)];
}

/// The last particulars of each predefined class that this thread has met.
std::map<int, std::string>& particulars() {
  static thread_local std::map<int, std::string> texts;
  return texts;
}

}  // namespace

int error_class_for(Errc code) {
  switch (code) {
    case Errc::peer_lost:
      return MPIX_ERR_PROC_FAILED;
    case Errc::revoked:
      return MPIX_ERR_REVOKED;
    case Errc::invalid_argument:
      return MPI_ERR_ARG;
    case Errc::incompatible:  // what one process gives is longer than what the other takes
      return MPI_ERR_TRUNCATE;
    case Errc::unsupported:
      return MPI_ERR_UNSUPPORTED_OPERATION;
    case Errc::out_of_resources:
      return MPI_ERR_NO_MEM;
    default:
      return MPI_ERR_OTHER;
  }
}

std::string failed_call() {
  const CallId call = runtime().calls.current();
  return call == CallId::none ? "an MPI operation" : std::string(call_name(call));
}

void fatal(const std::string& text) {
  if (const Runtime* runtime = runtime_if_any(); runtime && runtime->end_job) runtime->end_job(1, text);
  write_last_output([](void*) { std::_Exit(1); }, nullptr);
  std::fprintf(stderr, "llamada: %s\n", text.c_str());
  std::fflush(stderr);
  std::_Exit(1);
}

void called_outside(CallId id) {
  const Runtime* runtime = runtime_if_any();
  const bool finalized = runtime && runtime->stage.finalized;
  fatal(fmt::format("{} was called {}", call_name(id), finalized ? "after MPI_Finalize" : "before MPI_Init"));
}

void enter_otherwise(CallId id) {
  Runtime* self = runtime_if_any();
  if (!self || !self->is_open()) called_outside(id);
  if (!self->lock) return;
  self->lock->lock();
  // While it waited for the lock.
  if (!self->is_open()) called_outside(id);
}

void leave_otherwise() {
  Runtime& self = runtime();
  if (self.stage.at_leave && self.calls.current() == CallId::none) {
    std::exchange(self.stage.at_leave, {})();
    self.stage.plain = self.is_open() && !self.lock;
  }
  if (!self.lock || !self.lock->is_mine()) return;
  if (self.waiting && self.lock->held_once()) self.waiting->before_unlock();
  self.lock->unlock();
}

namespace {

/// `object` is what the program's function is given, a communicator, a window or a session, `place` what a
/// message says it was. The function may change the code to be returned (8.3.1), but not to MPI_SUCCESS:
/// callers go on then, with what was refused.
int handle_error(const ErrorHandler& handler, int object, const std::string& place, int code) {
  if (handler.ends_job()) {
    fatal(fmt::format("{} failed in rank {} on {}: {}", failed_call(), runtime().rank_in_world(), place,
                      error_text(code)));
  }
  if (handler.kind() == ErrorHandler::Kind::user) {
    int given = code;
    const OutsideForCallback outside;
    handler.call(&object, &given, object_kind(object) == ObjectKind::window);
    if (given != MPI_SUCCESS) return given;
  }
  return code;
}

}  // namespace

int call_error_handler(Communicator* communicator, int code) {
  // What is legal without MPI_Init, like info objects.
  if (!runtime_if_any()) fatal(error_text(code));
  if (!communicator) communicator = runtime().comm_world();
  const Reference<ErrorHandler> handler = communicator->error_handler();
  return handle_error(*handler, communicator->handle(), communicator->description(), code);
}

int call_error_handler(const FailedObject& object, int code) {
  return handle_error(*object.handler, object.handle, object.description, code);
}

int call_error_handler(Session& session, int code) {
  return call_error_handler({session.error_handler(), session.handle, "a session"}, code);
}

void keep_particulars(int error_class, std::string text) { particulars()[error_class] = std::move(text); }

int report(Communicator* communicator, int error_class, std::string text) {
  keep_particulars(error_class, std::move(text));
  return call_error_handler(communicator, error_class);
}

int report(const FailedObject& object, int error_class, std::string text) {
  keep_particulars(error_class, std::move(text));
  return call_error_handler(object, error_class);
}

int report(Session& session, int error_class, std::string text) {
  keep_particulars(error_class, std::move(text));
  return call_error_handler(session, error_class);
}

int report(Communicator* communicator, const Error& error) {
  return report(communicator, error_class_for(error.code()), error.text());
}

std::string error_text(int code) {
  if (const AddedErrors::Entry* entry = added(code)) return entry->text;
  std::string text = class_text(code);
  if (text.empty()) return fmt::format("{} is not an error code", code);
  const auto found = particulars().find(code);
  if (found != particulars().end()) text += " (" + found->second + ")";
  return text;
}

int error_class_of(int code) {
  if (const AddedErrors::Entry* entry = added(code)) return entry->error_class;
  // As in MPICH's codes, also of classes that only later versions have.
  constexpr int class_max = 0x7f;
  return code >= 0 && code <= class_max ? code : MPI_ERR_UNKNOWN;
}

}  // namespace llamada::mpi
