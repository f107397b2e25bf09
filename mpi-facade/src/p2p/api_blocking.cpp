#include "p2p/api_common.hpp"
#include "p2p/brief_receive.hpp"

// Blocking communication (MPI 3.1, 3.2, 3.4, 3.10) and the buffer for buffered sends (3.6).

using namespace llamada::mpi;

namespace {

int send(const void* buffer, MPI_Count count, MPI_Datatype datatype, int destination, int tag, MPI_Comm comm,
         SendMode mode) {
  if ((mode == SendMode::standard || mode == SendMode::ready) &&
      send_plainly(buffer, count, datatype, destination, tag, comm))
    return MPI_SUCCESS;
  Peer peer;
  if (int code = check_send(buffer, count, datatype, destination, tag, comm, peer)) return code;
  if (int code = check_usable(peer.communicator)) return code;
  if (destination == MPI_PROC_NULL) return MPI_SUCCESS;
  if (mode == SendMode::buffered)
    if (int code = check_attached(peer)) return code;
  const int error = engine().send(peer.buffer, destination, tag, *peer.communicator, mode);
  return error == MPI_SUCCESS ? MPI_SUCCESS : report_receive(peer.communicator, error, 0, 0);
}

/// MPI_Send where send_briefly() does not do. With the same arguments, which so need not be moved.
[[gnu::noinline]] int send_otherwise(const void* buffer, int count, MPI_Datatype datatype, int destination,
                                     int tag, MPI_Comm comm) {
  if (send_briefly(CallId::Send, small_bytes_max, buffer, count, datatype, destination, tag, comm))
    return MPI_SUCCESS;
  LLAMADA_MPI_ENTER(Send);
  return send(buffer, count, datatype, destination, tag, comm, SendMode::standard);
}

}  // namespace

LLAMADA_MPI_FUNCTION(Send)
int PMPI_Send(const void* buffer, int count, MPI_Datatype datatype, int destination, int tag, MPI_Comm comm) {
  if (send_briefly(CallId::Send, cell_bytes_max, buffer, count, datatype, destination, tag, comm))
    return MPI_SUCCESS;
  return send_otherwise(buffer, count, datatype, destination, tag, comm);
}

LLAMADA_MPI_FUNCTION(Send_c)
int PMPI_Send_c(const void* buffer, MPI_Count count, MPI_Datatype datatype, int destination, int tag,
                MPI_Comm comm) {
  LLAMADA_MPI_ENTER(Send_c);
  return send(buffer, count, datatype, destination, tag, comm, SendMode::standard);
}

LLAMADA_MPI_FUNCTION(Bsend)
int PMPI_Bsend(const void* buffer, int count, MPI_Datatype datatype, int destination, int tag,
               MPI_Comm comm) {
  LLAMADA_MPI_ENTER(Bsend);
  return send(buffer, count, datatype, destination, tag, comm, SendMode::buffered);
}

LLAMADA_MPI_FUNCTION(Bsend_c)
int PMPI_Bsend_c(const void* buffer, MPI_Count count, MPI_Datatype datatype, int destination, int tag,
                 MPI_Comm comm) {
  LLAMADA_MPI_ENTER(Bsend_c);
  return send(buffer, count, datatype, destination, tag, comm, SendMode::buffered);
}

LLAMADA_MPI_FUNCTION(Ssend)
int PMPI_Ssend(const void* buffer, int count, MPI_Datatype datatype, int destination, int tag,
               MPI_Comm comm) {
  LLAMADA_MPI_ENTER(Ssend);
  return send(buffer, count, datatype, destination, tag, comm, SendMode::synchronous);
}

LLAMADA_MPI_FUNCTION(Ssend_c)
int PMPI_Ssend_c(const void* buffer, MPI_Count count, MPI_Datatype datatype, int destination, int tag,
                 MPI_Comm comm) {
  LLAMADA_MPI_ENTER(Ssend_c);
  return send(buffer, count, datatype, destination, tag, comm, SendMode::synchronous);
}

LLAMADA_MPI_FUNCTION(Rsend)
int PMPI_Rsend(const void* buffer, int count, MPI_Datatype datatype, int destination, int tag,
               MPI_Comm comm) {
  LLAMADA_MPI_ENTER(Rsend);
  return send(buffer, count, datatype, destination, tag, comm, SendMode::ready);
}

LLAMADA_MPI_FUNCTION(Rsend_c)
int PMPI_Rsend_c(const void* buffer, MPI_Count count, MPI_Datatype datatype, int destination, int tag,
                 MPI_Comm comm) {
  LLAMADA_MPI_ENTER(Rsend_c);
  return send(buffer, count, datatype, destination, tag, comm, SendMode::ready);
}

namespace {

int receive(void* buffer, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
            MPI_Status* status) {
  PlainPeer plain;
  const bool is_plain = plain.find_receive(buffer, count, datatype, source, tag, comm);
  if (is_plain && engine().receive_briefly({static_cast<std::byte*>(buffer), plain.bytes}, source, tag,
                                           *plain.communicator, status))
    return MPI_SUCCESS;
  Request request;
  if (is_plain) {
    begin_plain_receive(request, buffer, count, plain, source, tag);
    engine().start_plain_receive(request);
  } else {
    Peer peer;
    if (int code = check_receive(buffer, count, datatype, source, tag, comm, peer)) return code;
    if (int code = check_usable(peer.communicator)) return code;
    if (source == MPI_PROC_NULL) {
      null_process_status(status);
      return MPI_SUCCESS;
    }
    describe_receive(request, peer, source, tag);
    engine().start_receive(request);
  }
  engine().wait(request);
  Engine::receive_status(request, status);
  return report_request(request);
}

}  // namespace

LLAMADA_MPI_FUNCTION(Recv)
int PMPI_Recv(void* buffer, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
              MPI_Status* status) {
  LLAMADA_MPI_ENTER(Recv);
  return receive(buffer, count, datatype, source, tag, comm, status);
}

LLAMADA_MPI_FUNCTION(Recv_c)
int PMPI_Recv_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                MPI_Status* status) {
  LLAMADA_MPI_ENTER(Recv_c);
  return receive(buffer, count, datatype, source, tag, comm, status);
}

namespace {

/// Both directions at once, none waiting for the other.
int exchange(const Peer& out, int destination, int send_tag, const Peer& in, int source, int receive_tag,
             MPI_Status* status) {
  Request receive, send;
  describe_receive(receive, in, source, receive_tag);
  describe_send(send, out, destination, send_tag, SendMode::standard);
  engine().hold(receive);
  engine().hold(send);
  engine().start(receive);
  engine().start(send);
  engine().wait(send);
  // Whoever has lost its receiver may wait for its sender in vain.
  if (send.error != MPI_SUCCESS) [[unlikely]] {
    engine().cancel(receive);
    engine().wait(receive);
    return report_request(send);
  }
  engine().wait(receive);
  Engine::receive_status(receive, status);
  return report_request(receive);
}

int send_and_receive(const void* send_buffer, MPI_Count send_count, MPI_Datatype send_type, int destination,
                     int send_tag, void* receive_buffer, MPI_Count receive_count, MPI_Datatype receive_type,
                     int source, int receive_tag, MPI_Comm comm, MPI_Status* status) {
  // What is over at once needs nobody meanwhile.
  PlainPeer plain;
  if (plain.find_receive(receive_buffer, receive_count, receive_type, source, receive_tag, comm) &&
      send_plainly(send_buffer, send_count, send_type, destination, send_tag, comm))
    return receive(receive_buffer, receive_count, receive_type, source, receive_tag, comm, status);
  Peer out, in;
  if (int code = check_send(send_buffer, send_count, send_type, destination, send_tag, comm, out))
    return code;
  if (int code = check_receive(receive_buffer, receive_count, receive_type, source, receive_tag, comm, in))
    return code;
  if (int code = check_usable(in.communicator)) return code;
  return exchange(out, destination, send_tag, in, source, receive_tag, status);
}

}  // namespace

LLAMADA_MPI_FUNCTION(Sendrecv)
int PMPI_Sendrecv(const void* send_buffer, int send_count, MPI_Datatype send_type, int destination,
                  int send_tag, void* receive_buffer, int receive_count, MPI_Datatype receive_type,
                  int source, int receive_tag, MPI_Comm comm, MPI_Status* status) {
  LLAMADA_MPI_ENTER(Sendrecv);
  return send_and_receive(send_buffer, send_count, send_type, destination, send_tag, receive_buffer,
                          receive_count, receive_type, source, receive_tag, comm, status);
}

LLAMADA_MPI_FUNCTION(Sendrecv_c)
int PMPI_Sendrecv_c(const void* send_buffer, MPI_Count send_count, MPI_Datatype send_type, int destination,
                    int send_tag, void* receive_buffer, MPI_Count receive_count, MPI_Datatype receive_type,
                    int source, int receive_tag, MPI_Comm comm, MPI_Status* status) {
  LLAMADA_MPI_ENTER(Sendrecv_c);
  return send_and_receive(send_buffer, send_count, send_type, destination, send_tag, receive_buffer,
                          receive_count, receive_type, source, receive_tag, comm, status);
}

LLAMADA_MPI_FUNCTION(Sendrecv_replace)
int PMPI_Sendrecv_replace(void* buffer, int count, MPI_Datatype datatype, int destination, int send_tag,
                          int source, int receive_tag, MPI_Comm comm, MPI_Status* status) {
  LLAMADA_MPI_ENTER(Sendrecv_replace);
  Peer out, in;
  if (int code = check_send(buffer, count, datatype, destination, send_tag, comm, out)) return code;
  if (int code = check_receive(buffer, count, datatype, source, receive_tag, comm, in)) return code;
  if (int code = check_usable(in.communicator)) return code;
  std::vector<std::byte> packed(in.buffer.bytes());
  in.buffer.pack(0, packed);
  out.type = runtime().datatypes.find(MPI_BYTE);
  out.buffer = {packed.data(), packed.size(), out.type};
  return exchange(out, destination, send_tag, in, source, receive_tag, status);
}

LLAMADA_MPI_FUNCTION(Buffer_attach)
int PMPI_Buffer_attach(void* buffer, int size) {
  LLAMADA_MPI_ENTER(Buffer_attach);
  auto& attached = engine().attached_buffer();
  if (attached.memory) return report(nullptr, MPI_ERR_BUFFER, "there is a buffer attached already");
  if (int code = check_count(nullptr, size, "size")) return code;
  if (int code = check_pointer(nullptr, buffer, "buffer")) return code;
  attached = {buffer, size};
  return MPI_SUCCESS;
}

// Messages are never in the attached buffer but in the log or in memory of our own, so there is nothing to
// wait for.
LLAMADA_MPI_FUNCTION(Buffer_detach)
int PMPI_Buffer_detach(void* buffer, int* size) {
  LLAMADA_MPI_ENTER(Buffer_detach);
  if (int code = check_pointer(nullptr, buffer, "buffer")) return code;
  if (int code = check_pointer(nullptr, size, "size")) return code;
  auto& attached = engine().attached_buffer();
  *static_cast<void**>(buffer) = attached.memory;
  *size = attached.bytes;
  attached = {};
  return MPI_SUCCESS;
}
