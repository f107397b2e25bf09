#include "p2p/api_common.hpp"

// Nonblocking (MPI 3.1, 3.7.2) and persistent (3.9) communication.

using namespace llamada::mpi;

namespace {

bool may_be_over(SendMode mode) { return mode == SendMode::standard || mode == SendMode::ready; }

int make_send(const void* buffer, MPI_Count count, MPI_Datatype datatype, int destination, int tag,
              MPI_Comm comm, MPI_Request* handle, SendMode mode, bool persistent) {
  Peer peer;
  if (int code = check_send(buffer, count, datatype, destination, tag, comm, peer)) return code;
  if (int code = check_pointer(peer.communicator, handle, "request")) return code;
  if (mode == SendMode::buffered && destination != MPI_PROC_NULL && !persistent)
    if (int code = check_attached(peer)) return code;
  if (may_be_over(mode) && !persistent && destination != MPI_PROC_NULL &&
      engine().send_now(peer.buffer, destination, tag, *peer.communicator)) {
    *handle = RequestTable::sent_handle;
    return MPI_SUCCESS;
  }
  Request& request = add_request(peer);
  describe_send(request, peer, destination, tag, mode);
  request.persistent = persistent;
  if (!persistent) engine().start(request);
  *handle = request.handle;
  return MPI_SUCCESS;
}

int make_receive(void* buffer, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                 MPI_Request* handle, bool persistent) {
  Peer peer;
  if (int code = check_receive(buffer, count, datatype, source, tag, comm, peer)) return code;
  if (int code = check_pointer(peer.communicator, handle, "request")) return code;
  Request& request = add_request(peer);
  describe_receive(request, peer, source, tag);
  request.persistent = persistent;
  if (!persistent) engine().start(request);
  *handle = request.handle;
  return MPI_SUCCESS;
}

/// A small message is over before anything of make_send() is needed.
[[gnu::always_inline]] inline int begin_send(const void* buffer, MPI_Count count, MPI_Datatype datatype,
                                             int destination, int tag, MPI_Comm comm, MPI_Request* handle,
                                             SendMode mode, bool persistent) {
  if (!persistent && may_be_over(mode) && handle &&
      send_plainly(buffer, count, datatype, destination, tag, comm)) {
    *handle = RequestTable::sent_handle;
    return MPI_SUCCESS;
  }
  return make_send(buffer, count, datatype, destination, tag, comm, handle, mode, persistent);
}

/// MPI_Irecv for the receive that has only to be queued. False: nothing has happened.
[[gnu::always_inline]] inline bool queue_receive(void* buffer, int count, MPI_Datatype datatype, int source,
                                                 int tag, MPI_Comm comm, MPI_Request* handle) {
  Runtime* const self = runtime_if_any();
  PlainPeer plain;
  if (!handle || handle_kind(comm) != HandleKind::builtin || !BriefCall::is_possible(self)) return false;
  if (!PlainPeer::are_last_named(*self, datatype, comm)) return false;
  if (!plain.is_plain_receive(*self, buffer, count, source, tag)) return false;
  Engine& engine = *self->engine;
  if (!engine.will_queue(plain.communicator->context())) return false;
  const BriefCall call(*self, CallId::Irecv);
  Request& request = engine.requests().take_unused();
  begin_plain_receive(request, buffer, count, plain, source, tag);
  engine.queue_receive(request);
  *handle = request.handle;
  return true;
}

[[gnu::always_inline]] inline int begin_receive(void* buffer, MPI_Count count, MPI_Datatype datatype,
                                                int source, int tag, MPI_Comm comm, MPI_Request* handle) {
  PlainPeer plain;
  if (!handle || !plain.find_receive(buffer, count, datatype, source, tag, comm))
    return make_receive(buffer, count, datatype, source, tag, comm, handle, false);
  Engine& self = engine();
  Request& request = self.requests().add_unset();
  begin_plain_receive(request, buffer, count, plain, source, tag);
  if (handle_kind(comm) != HandleKind::builtin)
    request.keep().communicator = Reference<Communicator>(plain.communicator);
  self.start_plain_receive(request);
  *handle = request.handle;
  return MPI_SUCCESS;
}

int start(MPI_Request handle) {
  Request* request = nullptr;
  if (int code = find_request(handle, request)) return code;
  if (!request || !request->persistent || request->active)
    return report(request ? request->communicator : nullptr, MPI_ERR_REQUEST,
                  "only an inactive persistent request can be started");
  if (request->kind == Request::Kind::send && request->mode == SendMode::buffered && !request->null_process) {
    Peer peer;
    peer.communicator = request->communicator;
    peer.buffer = request->buffer;
    if (int code = check_attached(peer)) return code;
  }
  engine().start(*request);
  return MPI_SUCCESS;
}

// The two that are called most, where send_briefly() and queue_receive() do not do. With the same arguments,
// which so need not be moved.

[[gnu::noinline]] int isend_otherwise(const void* buffer, int count, MPI_Datatype datatype, int destination,
                                      int tag, MPI_Comm comm, MPI_Request* request) {
  if (request &&
      send_briefly(CallId::Isend, small_bytes_max, buffer, count, datatype, destination, tag, comm)) {
    *request = RequestTable::sent_handle;
    return MPI_SUCCESS;
  }
  LLAMADA_MPI_ENTER(Isend);
  return begin_send(buffer, count, datatype, destination, tag, comm, request, SendMode::standard, false);
}

[[gnu::noinline]] int irecv_otherwise(void* buffer, int count, MPI_Datatype datatype, int source, int tag,
                                      MPI_Comm comm, MPI_Request* request) {
  LLAMADA_MPI_ENTER(Irecv);
  return begin_receive(buffer, count, datatype, source, tag, comm, request);
}

}  // namespace

LLAMADA_MPI_FUNCTION(Isend)
int PMPI_Isend(const void* buffer, int count, MPI_Datatype datatype, int destination, int tag, MPI_Comm comm,
               MPI_Request* request) {
  if (!request ||
      !send_briefly(CallId::Isend, cell_bytes_max, buffer, count, datatype, destination, tag, comm))
    return isend_otherwise(buffer, count, datatype, destination, tag, comm, request);
  *request = RequestTable::sent_handle;
  return MPI_SUCCESS;
}

#define LLAMADA_NONBLOCKING_SEND(name, Count, mode, persistent)                                              \
  LLAMADA_MPI_FUNCTION(name)                                                                                 \
  int PMPI_##name(const void* buffer, Count count, MPI_Datatype datatype, int destination, int tag,          \
                  MPI_Comm comm, MPI_Request* request) {                                                     \
    LLAMADA_MPI_ENTER(name);                                                                                 \
    return begin_send(buffer, count, datatype, destination, tag, comm, request, SendMode::mode, persistent); \
  }

LLAMADA_NONBLOCKING_SEND(Ibsend, int, buffered, false)
LLAMADA_NONBLOCKING_SEND(Issend, int, synchronous, false)
LLAMADA_NONBLOCKING_SEND(Irsend, int, ready, false)
LLAMADA_NONBLOCKING_SEND(Send_init, int, standard, true)
LLAMADA_NONBLOCKING_SEND(Bsend_init, int, buffered, true)
LLAMADA_NONBLOCKING_SEND(Ssend_init, int, synchronous, true)
LLAMADA_NONBLOCKING_SEND(Rsend_init, int, ready, true)

LLAMADA_NONBLOCKING_SEND(Isend_c, MPI_Count, standard, false)
LLAMADA_NONBLOCKING_SEND(Ibsend_c, MPI_Count, buffered, false)
LLAMADA_NONBLOCKING_SEND(Issend_c, MPI_Count, synchronous, false)
LLAMADA_NONBLOCKING_SEND(Irsend_c, MPI_Count, ready, false)

LLAMADA_MPI_FUNCTION(Irecv)
int PMPI_Irecv(void* buffer, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
               MPI_Request* request) {
  if (queue_receive(buffer, count, datatype, source, tag, comm, request)) return MPI_SUCCESS;
  return irecv_otherwise(buffer, count, datatype, source, tag, comm, request);
}

LLAMADA_MPI_FUNCTION(Irecv_c)
int PMPI_Irecv_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                 MPI_Request* request) {
  LLAMADA_MPI_ENTER(Irecv_c);
  return begin_receive(buffer, count, datatype, source, tag, comm, request);
}

LLAMADA_MPI_FUNCTION(Recv_init)
int PMPI_Recv_init(void* buffer, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                   MPI_Request* request) {
  LLAMADA_MPI_ENTER(Recv_init);
  return make_receive(buffer, count, datatype, source, tag, comm, request, true);
}

LLAMADA_MPI_FUNCTION(Start)
int PMPI_Start(MPI_Request* request) {
  LLAMADA_MPI_ENTER(Start);
  if (int code = check_pointer(nullptr, request, "request")) return code;
  return start(*request);
}

LLAMADA_MPI_FUNCTION(Startall)
int PMPI_Startall(int count, MPI_Request requests[]) {
  LLAMADA_MPI_ENTER(Startall);
  if (int code = check_count(nullptr, count)) return code;
  for (int i = 0; i < count; ++i)
    if (int code = start(requests[i])) return code;
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Request_free)
int PMPI_Request_free(MPI_Request* handle) {
  LLAMADA_MPI_ENTER(Request_free);
  if (int code = check_pointer(nullptr, handle, "request")) return code;
  Request* request = nullptr;
  if (int code = find_request(*handle, request)) return code;
  if (!request) return report(nullptr, MPI_ERR_REQUEST, "the request is MPI_REQUEST_NULL");
  static_cast<void>(request->go_on_if_pending());
  if (request->active && !request->complete) {
    request->released = true;
    request->room_bytes = -1;
    if (request->kind != Request::Kind::task || !request->kept->task->keeps_handle())
      engine().requests().remove_handle(*request);
    *handle = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
  }
  *handle = MPI_REQUEST_NULL;
  return remove_request(*request);
}

LLAMADA_MPI_FUNCTION(Cancel)
int PMPI_Cancel(MPI_Request* handle) {
  LLAMADA_MPI_ENTER(Cancel);
  if (int code = check_pointer(nullptr, handle, "request")) return code;
  Request* request = nullptr;
  if (int code = find_request(*handle, request)) return code;
  if (!is_active(request))
    return report(nullptr, MPI_ERR_REQUEST, "the request to be cancelled is not active");
  if (request->kind == Request::Kind::task) {
    const int code = request->kept->task->cancel(request->complete);
    return code == MPI_SUCCESS ? MPI_SUCCESS : request->kept->task->report(code);
  }
  engine().cancel(*request);
  return MPI_SUCCESS;
}
