#pragma once

#include <mpi.h>

#include <climits>

#include "object/status.hpp"
#include "p2p/engine.hpp"
#include "runtime/arguments.hpp"

// What the C functions of point-to-point communication share.

namespace llamada::mpi {

inline Engine& engine() { return *runtime().engine; }

/// The arguments of a communication, found and checked.
struct Peer {
  Communicator* communicator = nullptr;
  Buffer buffer;
  Datatype* type = nullptr;
};

inline int check_data(const void* buffer, MPI_Count count, MPI_Datatype datatype, Peer& found) {
  if (int code = check_count(found.communicator, count)) return code;
  if (int code = find_committed(found.communicator, datatype, found.type)) return code;
  if (int code = check_buffer(found.communicator, buffer, count, *found.type)) return code;
  std::ptrdiff_t bytes = 0;
  if (__builtin_mul_overflow(count, found.type->size(), &bytes)) [[unlikely]]
    return detail::too_much_data(found.communicator, count);
  found.buffer = {const_cast<void*>(buffer), static_cast<std::size_t>(count), found.type};
  return MPI_SUCCESS;
}

/// The usual arguments, all right at once: of a predefined datatype, with a rank and a tag that are none of
/// the constants (for receives: but MPI_ANY_SOURCE and MPI_ANY_TAG). False: to be looked at one by one.
struct PlainPeer {
  Communicator* communicator;
  Datatype* type;
  std::size_t bytes;

  bool find_send(const void* buffer, MPI_Count count, MPI_Datatype datatype, int destination, int tag,
                 MPI_Comm comm) {
    Runtime& self = runtime();
    return name(self, datatype, comm) && is_plain_send(self, buffer, count, destination, tag);
  }
  bool find_receive(const void* buffer, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                    MPI_Comm comm) {
    Runtime& self = runtime();
    return name(self, datatype, comm) && is_plain_receive(self, buffer, count, source, tag);
  }

  // The same in two steps, which call nothing.

  /// Whether Runtime::last_named is these two.
  static bool are_last_named(const Runtime& self, MPI_Datatype datatype, MPI_Comm comm) {
    const LastNamed& last = self.last_named;
    return comm == last.comm && datatype == last.datatype && last.changes == self.communicators.changes();
  }
  bool is_plain_send(const Runtime& self, const void* buffer, MPI_Count count, int destination, int tag) {
    return (destination | tag) >= 0 && is_plain(self, buffer, count, destination, tag);
  }
  bool is_plain_receive(const Runtime& self, const void* buffer, MPI_Count count, int source, int tag) {
    if (source < 0 && source != MPI_ANY_SOURCE) return false;
    return tag >= MPI_ANY_TAG && is_plain(self, buffer, count, source, tag);
  }

 private:
  bool is_plain(const Runtime& self, const void* buffer, MPI_Count count, int rank, int tag) {
    const LastNamed& last = self.last_named;
    communicator = last.communicator;
    type = last.type;
    if (static_cast<std::uint64_t>(count) > INT_MAX) return false;
    if (rank >= communicator->peer_count() || tag > self.attributes.tag_upper_bound) return false;
    bytes = static_cast<std::size_t>(count) * last.type_bytes;
    return (buffer != nullptr || count == 0) && buffer != MPI_IN_PLACE;
  }
  /// Makes Runtime::last_named these two. False when they are not the usual ones.
  static bool name(Runtime& self, MPI_Datatype datatype, MPI_Comm comm) {
    return are_last_named(self, datatype, comm) || name_anew(self, datatype, comm);
  }
  static bool name_anew(Runtime& self, MPI_Datatype datatype, MPI_Comm comm);
};

/// What has room in a cell of a log, and what is published by a few stores.
inline constexpr std::size_t cell_bytes_max = log::inline_payload_max;
inline constexpr std::size_t small_bytes_max = log::publish_fast_bytes_max;

/// A small send that is over at return, if all is as usual. False: nothing has happened.
inline bool send_plainly(const void* buffer, MPI_Count count, MPI_Datatype datatype, int destination, int tag,
                         MPI_Comm comm) {
  PlainPeer peer;
  if (!peer.find_send(buffer, count, datatype, destination, tag, comm)) return false;
  if (peer.bytes > small_bytes_max) return false;
  return engine().send_small({static_cast<const std::byte*>(buffer), peer.bytes}, destination, tag,
                             *peer.communicator);
}

/// The whole of a call that sends a message of at most so many bytes. False: nothing has happened. It calls
/// nothing as long as that is cell_bytes_max.
[[gnu::always_inline]] inline bool send_briefly(CallId id, std::size_t bytes_max, const void* buffer,
                                                int count, MPI_Datatype datatype, int destination, int tag,
                                                MPI_Comm comm) {
  // What is too long is so at first sight, mostly.
  if (static_cast<unsigned>(count) > bytes_max) return false;
  Runtime* const self = runtime_if_any();
  PlainPeer peer;
  if (!BriefCall::is_possible(self) || !PlainPeer::are_last_named(*self, datatype, comm)) return false;
  if (!peer.is_plain_send(*self, buffer, count, destination, tag)) return false;
  if (peer.bytes > bytes_max) return false;
  const Communicator& communicator = *peer.communicator;
  const auto publish = self->engine->outgoing().begin_small(communicator.world_rank(destination), peer.bytes);
  if (!publish) return false;
  const BriefCall call(*self, id);
  publish({static_cast<const std::byte*>(buffer), peer.bytes}, communicator.context(), tag);
  return true;
}

/// Reports that a process is lost, or the communicator revoked, and gives the error.
int report_loss(Communicator* communicator, int error);
int check_usable_slowly(Communicator* communicator);
/// MPIX_ERR_REVOKED for a communicator that may not be used any more.
inline int check_usable(Communicator* communicator) {
  return engine().losses().any() ? check_usable_slowly(communicator) : MPI_SUCCESS;
}

inline int check_send(const void* buffer, MPI_Count count, MPI_Datatype datatype, int destination, int tag,
                      MPI_Comm comm, Peer& found) {
  if (int code = find_communicator(comm, found.communicator)) return code;
  if (int code = check_data(buffer, count, datatype, found)) return code;
  if (int code = check_destination(found.communicator, destination)) return code;
  return check_send_tag(found.communicator, tag);
}

inline int check_receive(const void* buffer, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                         MPI_Comm comm, Peer& found) {
  if (int code = find_communicator(comm, found.communicator)) return code;
  if (int code = check_data(buffer, count, datatype, found)) return code;
  if (int code = check_source(found.communicator, source)) return code;
  return check_receive_tag(found.communicator, tag);
}

/// MPI_ERR_BUFFER for a buffered send of a message that the attached buffer could never hold.
int check_attached(const Peer& peer);

/// Describes a send or receive in `request`.
inline void describe_send(Request& request, const Peer& peer, int destination, int tag, SendMode mode) {
  request.kind = Request::Kind::send;
  request.mode = mode;
  request.buffer.base = peer.buffer.base;
  request.buffer.count = peer.buffer.count;
  request.buffer.type = peer.type;
  request.communicator = peer.communicator;
  request.peer = destination;
  request.tag = tag;
  request.null_process = destination == MPI_PROC_NULL;
}

inline void describe_receive(Request& request, const Peer& peer, int source, int tag) {
  request.kind = Request::Kind::receive;
  request.buffer.base = peer.buffer.base;
  request.buffer.count = peer.buffer.count;
  request.buffer.type = peer.type;
  request.communicator = peer.communicator;
  request.peer = source;
  request.tag = tag;
  request.null_process = source == MPI_PROC_NULL;
}

/// A request with a handle that keeps the communicator and datatype alive.
Request& add_request(const Peer& peer);

/// Begins a receive that is as usual in its arguments.
inline void begin_plain_receive(Request& request, void* buffer, MPI_Count count, const PlainPeer& peer,
                                int source, int tag) {
  request.begin_receive();
  request.buffer = {buffer, static_cast<std::size_t>(count), peer.type};
  request.room_bytes = static_cast<std::int64_t>(peer.bytes);
  request.communicator = peer.communicator;
  request.peer = source;
  request.tag = tag;
}

/// The request of a handle: null for MPI_REQUEST_NULL; MPI_ERR_REQUEST for one that is none.
int find_request(MPI_Request handle, Request*& found);

/// Reports the error of a complete request, if it has one, and gives the code.
int report_request(const Request& request);
/// The same after it is gone.
int report_receive(Communicator* communicator, int error, std::uint64_t message_bytes,
                   std::uint64_t buffer_bytes);

/// A request is done for the program: fills the status (null: none) and takes back the handle, or makes a
/// persistent one inactive. Gives its error code, not reported.
int retire(MPI_Request& handle, Request& request, MPI_Status* status);

/// Begins a task and gives its handle.
int begin_task(std::unique_ptr<Task> task, MPI_Request* handle);
/// An inactive persistent request for it, for MPI_Start.
int make_persistent_task(std::unique_ptr<Task> task, MPI_Request* handle);
/// A complete request is about to be retired, or its status to be read: asks a task for its status and error.
void settle(Request& request);
/// retire() for a task; reports its error.
int retire_task(MPI_Request& handle, Request& request, MPI_Status* status);
/// Takes back a request that is not active for the program, or active and complete. The error of a task that
/// is freed, reported.
int remove_request(Request& request);

inline bool is_active(const Request* request) { return request && request->active; }

inline void empty_status(MPI_Status* status) {
  if (status != MPI_STATUS_IGNORE) set_empty(*status);
}
inline void null_process_status(MPI_Status* status) {
  if (status != MPI_STATUS_IGNORE) set_proc_null(*status);
}

}  // namespace llamada::mpi
