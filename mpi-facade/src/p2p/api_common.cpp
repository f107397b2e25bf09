#include "p2p/api_common.hpp"

namespace llamada::mpi {

bool PlainPeer::name_anew(Runtime& self, MPI_Datatype datatype, MPI_Comm comm) {
  Communicator* communicator = self.communicators.find(comm);
  Datatype* type = self.datatypes.find(datatype);
  if (!communicator || !type || !type->is_plain()) return false;
  if (engine().losses().is_revoked(communicator->context())) return false;
  // A plain datatype is predefined, and stays.
  self.last_named = {comm, datatype, self.communicators.changes(), communicator, type->size(), type};
  return true;
}

int check_attached(const Peer& peer) {
  const std::size_t needed = peer.buffer.bytes() + MPI_BSEND_OVERHEAD;
  const auto& attached = engine().attached_buffer();
  if (needed <= static_cast<std::size_t>(attached.bytes)) return MPI_SUCCESS;
  return report(
      peer.communicator, MPI_ERR_BUFFER,
      fmt::format("a buffered send needs {} bytes with MPI_BSEND_OVERHEAD, and the attached buffer has {}",
                  needed, attached.bytes));
}

Request& add_request(const Peer& peer) {
  Request& request = engine().requests().add();
  // What is predefined stays.
  if (!peer.type->is_predefined()) request.keep().type = Reference<Datatype>(peer.type);
  if (handle_kind(peer.communicator->handle()) != HandleKind::builtin)
    request.keep().communicator = Reference<Communicator>(peer.communicator);
  return request;
}

int find_request(MPI_Request handle, Request*& found) {
  found = nullptr;
  if (handle == MPI_REQUEST_NULL) return MPI_SUCCESS;
  found = engine().requests().find(handle);
  if (found && found->kind != Request::Kind::message) return MPI_SUCCESS;
  return report(nullptr, MPI_ERR_REQUEST, fmt::format("{:#x} is no request", static_cast<unsigned>(handle)));
}

namespace {

bool is_of_losses(int error) {
  return error == MPIX_ERR_PROC_FAILED || error == MPIX_ERR_PROC_FAILED_PENDING || error == MPIX_ERR_REVOKED;
}

std::string loss_text(const Communicator* communicator, int error) {
  if (error == MPIX_ERR_REVOKED || !communicator) return "a process has revoked it";
  const int lost = engine().losses().first_lost(*communicator);
  if (lost < 0) return "a process has died";
  const int rank = communicator->rank_of(lost);
  if (rank == MPI_UNDEFINED) return "a process of this group has died";
  return fmt::format("rank {} of the communicator has died", rank);
}

}  // namespace

int report_loss(Communicator* communicator, int error) {
  // Where each call fails at once, this may be all that hears of a revocation.
  engine().progress();
  return report(communicator, error, loss_text(communicator, error));
}

int check_usable_slowly(Communicator* communicator) {
  return engine().losses().is_revoked(communicator->context()) ? report_loss(communicator, MPIX_ERR_REVOKED)
                                                               : MPI_SUCCESS;
}

int report_receive(Communicator* communicator, int error, std::uint64_t message_bytes,
                   std::uint64_t buffer_bytes) {
  if (is_of_losses(error)) return report_loss(communicator, error);
  if (error == MPI_ERR_TRUNCATE)
    return report(communicator, error,
                  fmt::format("a message of {} bytes was received into a buffer of {} bytes", message_bytes,
                              buffer_bytes));
  return report(communicator, error,
                fmt::format("a message of {} bytes ends within an element of the datatype that it was "
                            "received with",
                            message_bytes));
}

int report_request(const Request& request) {
  if (request.error == MPI_SUCCESS) return MPI_SUCCESS;
  return report_receive(request.communicator, request.error, request.failed_bytes, request.status_bytes);
}

int retire(MPI_Request& handle, Request& request, MPI_Status* status) {
  if (request.go_on_if_pending()) [[unlikely]] {
    if (status) empty_status(status);
    return MPIX_ERR_PROC_FAILED_PENDING;
  }
  if (status) Engine::receive_status(request, status);
  const int error = request.error;
  if (request.is_shared) {
    handle = MPI_REQUEST_NULL;
    return error;
  }
  request.active = false;
  if (request.persistent) return error;
  if (request.kind != Request::Kind::task) {
    engine().requests().remove(request);
    handle = MPI_REQUEST_NULL;
    return error;
  }
  const std::unique_ptr<Task> task = std::move(request.kept->task);
  engine().requests().remove(request);
  handle = MPI_REQUEST_NULL;
  const int freed = task ? task->free() : MPI_SUCCESS;
  return freed != MPI_SUCCESS ? freed : error;
}

int Task::report(int code) {
  return mpi::report(communicator(), code, "an operation that a request stands for has failed");
}

int begin_task(std::unique_ptr<Task> task, MPI_Request* handle) {
  if (int code = check_pointer(task->communicator(), handle, "request")) return code;
  *handle = engine().start_task(std::move(task)).handle;
  return MPI_SUCCESS;
}

int make_persistent_task(std::unique_ptr<Task> task, MPI_Request* handle) {
  if (int code = check_pointer(task->communicator(), handle, "request")) return code;
  *handle = engine().add_persistent_task(std::move(task)).handle;
  return MPI_SUCCESS;
}

void settle(Request& request) {
  if (request.error == MPIX_ERR_PROC_FAILED_PENDING && !request.queued) request.error = MPI_SUCCESS;
  if (request.kind != Request::Kind::task) return;
  MPI_Status status{};
  set_empty(status);
  request.error = request.kept->task->complete(&status);
  request.status_source = status.MPI_SOURCE;
  request.status_tag = status.MPI_TAG;
  request.status_bytes = byte_count(status);
  request.cancelled = is_cancelled(status);
}

int retire_task(MPI_Request& handle, Request& request, MPI_Status* status) {
  const Reference<Communicator> communicator(request.communicator);
  settle(request);
  if (status) Engine::receive_status(request, status);
  request.active = false;
  const int error = request.error;
  if (request.persistent) return error == MPI_SUCCESS ? error : request.kept->task->report(error);
  const std::unique_ptr<Task> task = std::move(request.kept->task);
  engine().requests().remove(request);
  handle = MPI_REQUEST_NULL;
  const int freed = task->free();
  if (error == MPI_SUCCESS && freed == MPI_SUCCESS) return MPI_SUCCESS;
  return task->report(freed != MPI_SUCCESS ? freed : error);
}

int remove_request(Request& request) {
  if (request.is_shared) return MPI_SUCCESS;
  const Reference<Communicator> communicator(request.communicator);
  const std::unique_ptr<Task> task = std::move(request.kept->task);
  engine().requests().remove(request);
  const int code = task ? task->free() : MPI_SUCCESS;
  return code == MPI_SUCCESS ? MPI_SUCCESS : task->report(code);
}

}  // namespace llamada::mpi
