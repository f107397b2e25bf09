#pragma once

#include <cstdint>
#include <span>

#include "p2p/engine.hpp"
#include "p2p/losses.hpp"
#include "runtime/runtime.hpp"

// What those who make communicators tell each other.

namespace llamada::mpi {

/// Messages between processes of a communicator beside those of the program. Ranks are those of its peers.
class Messages {
 public:
  explicit Messages(Communicator& beside)
      : communicator_(make_counted<Communicator>(beside.context() | own_messages, beside.group(),
                                                 beside.error_handler())),
        bytes_(runtime().datatypes.find(MPI_BYTE)) {
    if (beside.is_inter()) communicator_->set_remote(beside.remote_group(), {});
  }

  template <typename T>
  void send(std::span<const T> values, int destination, int tag) {
    Request request;
    begin_send(request, values, destination, tag);
    engine().wait(request);
  }
  /// invalid_argument when what comes is not as long as `values`.
  template <typename T>
  Status receive(std::span<T> values, int source, int tag) {
    MPI_Status status;
    const int code =
        engine().receive(buffer(values.data(), values.size_bytes()), source, tag, *communicator_, &status);
    if (code == MPIX_ERR_PROC_FAILED || code == MPIX_ERR_REVOKED)
      return failure(code == MPIX_ERR_REVOKED ? Errc::revoked : Errc::peer_lost,
                     "a process that is needed has died, or the communicator is revoked");
    if (code != MPI_SUCCESS || static_cast<std::size_t>(status.count_lo) != values.size_bytes())
      return failure(Errc::invalid_argument, "rank {} of the other group calls another function", source);
    return {};
  }
  /// From whom it comes cannot be seen: the values say it.
  template <typename T>
  Status receive_from_any(std::span<T> values, int tag) {
    return receive(values, MPI_ANY_SOURCE, tag);
  }
  /// Whether a message of this kind is there.
  bool has_come(int source, int tag) const {
    return engine().probe(communicator_->context(), Engine::world_source(*communicator_, source), tag) !=
           nullptr;
  }
  template <typename T>
  Status exchange(std::span<const T> own, std::span<T> theirs, int peer, int tag) {
    Request request;
    begin_send(request, own, peer, tag);
    auto received = receive(theirs, peer, tag);
    engine().wait(request);
    return received;
  }

 private:
  static Engine& engine() { return *runtime().engine; }
  Buffer buffer(const void* memory, std::size_t bytes) const {
    return {const_cast<void*>(memory), bytes, bytes_};
  }
  template <typename T>
  void begin_send(Request& request, std::span<const T> values, int destination, int tag) {
    request.kind = Request::Kind::send;
    request.buffer = buffer(values.data(), values.size_bytes());
    request.communicator = communicator_.get();
    request.peer = destination;
    request.tag = tag;
    engine().start_send(request);
  }

  Reference<Communicator> communicator_;
  Datatype* bytes_;
};

}  // namespace llamada::mpi
