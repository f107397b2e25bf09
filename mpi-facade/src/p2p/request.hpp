#pragma once

#include <mpi.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "object/communicator.hpp"
#include "object/datatype.hpp"
#include "object/handle.hpp"
#include "p2p/matcher.hpp"
#include "p2p/record.hpp"
#include "p2p/task.hpp"

namespace llamada::mpi {

enum class SendMode : std::uint8_t { standard, buffered, synchronous, ready };

/// A message that came before its receive, with its payload: in place in the sender's log while histories are
/// kept, else copied. A rendezvous has its payload still at the sender.
struct Arrival : MessageNode {
  std::size_t bytes = 0;
  const std::byte* payload = nullptr;
  std::unique_ptr<std::byte[]> copy;
  std::size_t copy_capacity = 0;
  std::shared_ptr<const std::byte[]> shared_copy;  ///< in its place, of a large message
  std::vector<std::byte> patch;                    ///< of the payload (patch.hpp)
  bool synchronous = false;
  bool rendezvous = false;
  Announcement announcement;  ///< of a rendezvous
  Arrival* next_free = nullptr;
};

/// A buffer of the program in a communication.
struct Buffer {
  void* base = nullptr;
  std::size_t count = 0;
  const Datatype* type = nullptr;

  std::size_t bytes() const { return count * type->size(); }
  /// Where the bytes lie when that is one piece of memory; else null.
  std::byte* contiguous() const { return type->is_contiguous() ? type->data(base) : nullptr; }
  void pack(std::size_t first_byte, std::span<std::byte> out) const;
  /// Takes what fits: bytes from first_byte on that lie beyond the buffer are dropped.
  void unpack(std::size_t first_byte, std::span<const std::byte> in) const;
};

/// Where a request stands.
struct RequestState {
  enum class Kind : std::uint8_t { none, send, receive, message, task };

  Kind kind = Kind::none;
  SendMode mode = SendMode::standard;
  bool persistent = false;
  bool active = false;    ///< begun, and not yet completed for the program
  bool complete = false;  ///< nothing is left to do
  bool released = false;  ///< the program has given up its handle (MPI_Request_free, a buffered send)
  bool cancelled = false;
  bool null_process = false;      ///< with MPI_PROC_NULL
  bool matched_by_probe = false;  ///< a receive
  bool is_shared = false;         ///< RequestTable::sent(): one for all, that nothing changes
  bool keeps_something = false;   ///< something is in `kept`
  bool is_named = false;          ///< the RequestTable's: `handle` is the program's
  int error = MPI_SUCCESS;        ///< of a complete one

  bool operator==(const RequestState& other) const { return words() == other.words(); }

 private:
  constexpr std::array<std::uint64_t, 2> words() const {
    return std::bit_cast<std::array<std::uint64_t, 2>>(*this);
  }
};
static_assert(sizeof(RequestState) == 16);

/// Of a receive of the usual kind, with a handle: begun, and when it is over and went well.
inline constexpr RequestState receive_begun{
    .kind = RequestState::Kind::receive, .active = true, .is_named = true};
inline constexpr RequestState receive_done{
    .kind = RequestState::Kind::receive, .active = true, .complete = true, .is_named = true};

/// A communication that was begun: of a nonblocking or persistent call, with a handle; or on the stack of a
/// blocking one.
///
/// What a small receive needs comes first, in few cache lines.
struct Request : ReceiveNode, RequestState {
  int handle = MPI_REQUEST_NULL;
  int peer = 0;  ///< as the program said: rank in the communicator; any_source
  /// A queued receive takes a message of at most so many bytes as it is, to where buffer.base says; -1: there
  /// is more to it.
  std::int64_t room_bytes = -1;
  Buffer buffer;
  Communicator* communicator = nullptr;

  // The status of a complete receive.
  int status_source = MPI_ANY_SOURCE;
  int status_tag = MPI_ANY_TAG;
  std::uint64_t status_bytes = 0;

  std::uint64_t failed_bytes = 0;  ///< of a receive with an error: how long the message was
  /// Which of all receives that were posted, from 0.
  std::uint64_t post_index() const { return sequence - 1; }

  // Sends.
  int destination = 0;             ///< rank in MPI_COMM_WORLD
  std::uint64_t ordinal = 0;       ///< of the message, when published or being compared
  bool is_written = false;         ///< into the log, though it could have gone directly
  std::uint64_t send_id = 0;       ///< rendezvous
  std::uint64_t bulk_done = 0;     ///< bytes published (send), received (receive) by the bulk lane
  Request* next_queued = nullptr;  ///< sends waiting for room

  Arrival* arrival = nullptr;  ///< Kind::message: the message that a matched probe took

  /// What one on the stack has no need for.
  struct Kept {
    Reference<Datatype> type;
    Reference<Communicator> communicator;
    std::vector<std::byte> message;  ///< buffered: packed
    std::unique_ptr<Task> task;      ///< Kind::task
  };
  std::unique_ptr<Kept> kept;  ///< of those in the RequestTable
  /// To put something into it.
  Kept& keep() {
    keeps_something = true;
    return *kept;
  }

  /// The first state, but for `kept` (which is empty) and what a send or receive sets when it begins.
  void reset();
  /// Any request begins, whatever it is.
  void begin();
  /// Keeps what one on the stack refers to while its call waits: another thread may free it meanwhile.
  void hold_objects();
  /// In place of reset() and begin() for a receive of the usual kind from one that was reset or complete
  /// before: what is missing is set by the match.
  void begin_receive() {
    rule = Rule::free;
    expected_ordinal = 0;
    const bool has_handle = is_named;
    state() = receive_begun;
    is_named = has_handle;
  }
  /// Whether it is complete only in that its caller is to be told that a process which might send is lost
  /// (MPIX_ERR_PROC_FAILED_PENDING): then it goes on from here.
  bool go_on_if_pending() {
    if (error != MPIX_ERR_PROC_FAILED_PENDING) [[likely]]
      return false;
    error = MPI_SUCCESS;
    if (!queued) return false;  // a message has come since
    complete = false;
    return true;
  }
  RequestState& state() { return *this; }
  const RequestState& state() const { return *this; }
};

/// The requests that are not on the stack. Handles depend only on the order of calls, never on when something
/// completes, so that a replay gives the same ones. Objects are reused, and never move.
class RequestTable {
 public:
  RequestTable();

  /// The one request, active and complete, of all sends that were over when their call returned. Which sends
  /// these are depends on the program alone while histories are kept.
  Request& sent() { return sent_; }

  /// A request in its first state, with a handle.
  Request& add() {
    Request& request = add_unset();
    request.reset();
    return request;
  }
  /// The same in some state, to begin_receive().
  Request& add_unset() {
    if (!unused_) [[unlikely]]
      make_one();
    return take_unused();
  }
  /// Whether add_unset() has to make no object: then take_unused() is the same.
  bool has_unused() const { return unused_; }
  Request& take_unused() {
    Request& request = *unused_;
    unused_ = next_unused(request);
    request.is_named = true;
    return request;
  }
  /// One that the program does not know: a buffered send.
  Request& add_without_handle();
  /// Takes back the handle; the request stays.
  void remove_handle(Request& request);
  /// Takes back the request, and its handle if it has one.
  void remove(Request& request) {
    if (request.is_shared) return;
    if (request.keeps_something) [[unlikely]]
      forget_kept(request);
    // A handle stays with its request until the next.
    Request*& list = request.is_named ? unused_ : nameless_;
    request.is_named = request.active = false;
    request.next = list;
    list = &request;
  }
  /// Nothing is left to do: a request whose handle the program has given up goes.
  void complete(Request& request);
  /// remove() for one in the state receive_done.
  void remove_done(Request& request) {
    request.is_named = request.active = false;
    request.next = unused_;
    unused_ = &request;
  }
  /// Null when there is none.
  Request* find(int handle) {
    Request* request = find_own(handle);
    if (request) return request->is_named ? request : nullptr;
    return handle == sent_handle ? &sent_ : nullptr;
  }
  /// The one that has this handle, be it the program's at present or not; null for sent_handle, too.
  Request* find_own(int handle) {
    const std::uint32_t index = static_cast<std::uint32_t>(handle) - first_handle;
    return index < handles_.size() ? handles_[index] : nullptr;
  }
  /// Whether the program has begun a request that it has not been told the end of.
  bool any_active() const;
  /// How many the program has, begun or not.
  std::size_t named_count() const;
  /// Whether a send or receive in this communicator has been begun and is not complete.
  bool any_active(const Communicator& communicator) const;

  static constexpr int sent_handle = make_handle(HandleKind::builtin, ObjectKind::request, 1);

 private:
  static constexpr auto first_handle =
      static_cast<std::uint32_t>(make_handle(HandleKind::direct, ObjectKind::request, 0));
  // A request that is unused is in no list of the matcher's.
  static Request* next_unused(const Request& request) { return static_cast<Request*>(request.next); }

  Request& make_object();
  void make_one();
  static void forget_kept(Request& request);

  Request sent_;
  std::vector<std::unique_ptr<Request>> requests_;
  std::vector<Request*> handles_;  // by index: used or unused
  Request* unused_ = nullptr;      // with a handle, the one taken back last first
  Request* nameless_ = nullptr;    // the same without one
};

}  // namespace llamada::mpi
