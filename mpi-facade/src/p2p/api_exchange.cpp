#include "p2p/api_common.hpp"

// MPI_Isendrecv and MPI_Isendrecv_replace (MPI 4.0, 3.10).

using namespace llamada::mpi;

namespace {

/// A send and a receive that are one request: complete when both are; its status is the receive's.
class Exchange final : public Task {
 public:
  Exchange(const Peer& out, int destination, int send_tag, const Peer& in, int source, int receive_tag)
      : types_{Reference<Datatype>(out.type), Reference<Datatype>(in.type)} {
    describe_receive(receive_, in, source, receive_tag);
    describe_send(send_, out, destination, send_tag, SendMode::standard);
  }
  /// What is sent is a copy.
  void send_copy(std::vector<std::byte> bytes) {
    copy_ = std::move(bytes);
    Datatype* byte = runtime().datatypes.find(MPI_BYTE);
    send_.buffer = {copy_.data(), copy_.size(), byte};
  }

  bool step() override {
    if (!begun_) {
      begun_ = true;
      engine().start(receive_);
      engine().start(send_);
    }
    return send_.complete && receive_.complete;
  }
  int complete(MPI_Status* status) override {
    Engine::receive_status(receive_, status);
    return receive_.error;
  }
  Communicator* communicator() const override { return receive_.communicator; }
  int report(int code) override {
    if (code != receive_.error) return Task::report(code);
    return report_receive(communicator(), code, receive_.failed_bytes, receive_.status_bytes);
  }

 private:
  Reference<Datatype> types_[2];
  std::vector<std::byte> copy_;
  Request receive_, send_;
  bool begun_ = false;
};

}  // namespace

LLAMADA_MPI_FUNCTION(Isendrecv)
int PMPI_Isendrecv(const void* send_buffer, int send_count, MPI_Datatype send_type, int destination,
                   int send_tag, void* receive_buffer, int receive_count, MPI_Datatype receive_type,
                   int source, int receive_tag, MPI_Comm comm, MPI_Request* request) {
  LLAMADA_MPI_ENTER(Isendrecv);
  Peer out, in;
  if (int code = check_send(send_buffer, send_count, send_type, destination, send_tag, comm, out))
    return code;
  if (int code = check_receive(receive_buffer, receive_count, receive_type, source, receive_tag, comm, in))
    return code;
  return begin_task(std::make_unique<Exchange>(out, destination, send_tag, in, source, receive_tag), request);
}

LLAMADA_MPI_FUNCTION(Isendrecv_replace)
int PMPI_Isendrecv_replace(void* buffer, int count, MPI_Datatype datatype, int destination, int send_tag,
                           int source, int receive_tag, MPI_Comm comm, MPI_Request* request) {
  LLAMADA_MPI_ENTER(Isendrecv_replace);
  Peer out, in;
  if (int code = check_send(buffer, count, datatype, destination, send_tag, comm, out)) return code;
  if (int code = check_receive(buffer, count, datatype, source, receive_tag, comm, in)) return code;
  auto exchange = std::make_unique<Exchange>(out, destination, send_tag, in, source, receive_tag);
  std::vector<std::byte> packed(in.buffer.bytes());
  in.buffer.pack(0, packed);
  exchange->send_copy(std::move(packed));
  return begin_task(std::move(exchange), request);
}
