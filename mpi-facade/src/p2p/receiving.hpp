#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "llamada/base/copy.hpp"
#include "llamada/base/crash_point.hpp"
#include "object/status.hpp"
#include "p2p/arrivals.hpp"
#include "p2p/direct_copies.hpp"
#include "p2p/early_copies.hpp"
#include "p2p/incoming.hpp"
#include "p2p/losses.hpp"
#include "p2p/matcher.hpp"
#include "p2p/outgoing.hpp"
#include "p2p/request.hpp"
#include "p2p/route.hpp"
#include "replay/determinants.hpp"
#include "world/world.hpp"

namespace llamada::mpi {

/// Who is told about receives.
class ReceiveOwner {
 public:
  /// A replacement receives something else than its predecessor did; the text says what. Does not return.
  virtual void differs(const std::string& difference) = 0;
  /// Somebody says that nobody may use this context any more.
  virtual void revoked(std::uint32_t context) = 0;

 protected:
  ~ReceiveOwner() = default;
};

/// The rank of MPI_COMM_WORLD for a source in a communicator (any_source stays).
inline int world_source(const Communicator& communicator, int source) {
  return source == MPI_ANY_SOURCE ? any_source : communicator.world_rank(source);
}

/// The receives and probes of one rank: pairs what comes (MessageSink) with what was posted, records the
/// matches that a replay has to repeat, and brings the bytes into the program's buffers. It waits for nothing
/// and looks at no log by itself.
///
/// Threads: the engine's.
class Receiving final : public MessageSink {
 public:
  /// All but `keeps` are borrowed. `keeps`: histories are kept.
  struct Parts {
    World& world;
    replay::Determinants& determinants;
    RequestTable& requests;
    Outgoing& outgoing;
    DirectCopies& direct;
    EarlyCopies& early;
    ReceiveOwner& owner;
    bool keeps = false;
  };
  explicit Receiving(const Parts& parts);

  /// Begins a receive whose description is complete.
  void start(Request& request);
  /// start() after Request::begin_receive(), outside of a replay.
  void start_plain(Request& request) {
    address(request);
    if (MessageNode* message = matcher_.post_free(request)) deliver(request, static_cast<Arrival&>(*message));
  }
  /// Whether a receive in this context has only to be queued: then queue() may follow, after begin_receive().
  bool will_queue(std::uint32_t context) const { return matcher_.will_queue(context); }
  void queue(Request& request) {
    address(request);
    matcher_.post_queued(request);
  }
  /// Begins the receive of what a matched probe took.
  void start_matched(Request& request, Arrival& arrival);
  /// A message that goes from memory to memory is in the request's buffer.
  void finish(Request& request);
  /// True when the receive has been taken back. What has come must have been taken before.
  bool cancel(Request& request);

  // For a receive of a contiguous buffer that is not posted, because its message is the next one.

  /// Whether the next message from this source in this context, unless it is special, is for that receive.
  bool is_untouched(std::uint32_t context, int from) const { return matcher_.is_untouched(context, from); }
  /// What the program says of such a receive.
  struct Brief {
    std::span<std::byte> room;
    int source;  ///< of the communicator, or MPI_ANY_SOURCE
    int tag;
    const Communicator& communicator;
    MPI_Status* status;
  };
  /// Takes the message whose cell is at the head of this stream. False: it is another one, or too long, and
  /// nothing has happened. Inline, because all of it is part of the message's latency.
  [[gnu::always_inline]] bool take_briefly(int from, Stream& stream, const log::Cell& cell,
                                           const Brief& receive);

  /// The message that a receive would take: null when there is none now. What it finds stays.
  Arrival* probe(std::uint32_t context, int source, int tag);
  Arrival* find(std::uint32_t context, int source, std::uint64_t ordinal);
  /// A replayed probe for any source has found this message.
  void probed(const Arrival& arrival) { matcher_.probed(arrival.context, arrival.source); }
  /// Takes a probed message out of the matching.
  void take(Arrival& arrival) { matcher_.take(arrival); }

  /// The first receive of many is waited for: what comes for them may be left to come together, for a moment.
  void set_gathering(bool gathers) { gathers_ = gathers; }
  /// The wait is no longer short.
  void gather_no_longer() { looks_left_ = 0; }

  /// An outcome was taken: when it was the last, wildcard receives that were held go live.
  void outcome_taken();
  /// The same where a clock may have taken it.
  void look_at_outcomes() {
    if (holds_ && !determinants_.replaying()) [[unlikely]]
      outcome_taken();
  }
  /// Whether wildcard receives wait for the end of the outcomes.
  bool holds() const { return holds_; }
  /// Receives whose match is known from a predecessor, and has not come.
  std::uint64_t awaited_matches() const { return awaited_matches_; }

  /// Ranks are below `count` from now on.
  void grow(int count);
  /// The rank has ended: what has come from there and was not received is dropped.
  void part(int rank);
  /// The rank has died, and all that it had sent has been taken: what was to follow will not come.
  void lose(int rank);
  /// Ends the posted receives that wait in vain, with their errors; those of which only the caller is to be
  /// told (MPIX_ERR_PROC_FAILED_PENDING) stay posted, and are marked complete until is_pending() unmarks
  /// them.
  void end_those_in_vain(const Losses& losses);
  /// Logs are reused from now on.
  void keep_no_longer() { arrivals_.copy_all(); }

  /// What has come and was not taken, and what is posted and was not reached.
  void describe(waits::Report& report) const;
  std::uint64_t unexpected_count() const { return matcher_.unexpected_count(); }
  std::uint64_t posted_count() const { return matcher_.posted_count(); }

  // MessageSink
  int take_awaited(int from, Stream& stream, int at_most) override;
  bool message_announced(int from, const log::LogReader& reader) override;
  void message_arrived(const IncomingMessage& message) override;
  void acknowledged(int from, std::uint32_t context, std::uint64_t ordinal) override;
  void taken_in(int from, std::uint64_t count) override { outgoing_.taken_in(from, count); }
  void tell_taken_in(int from, std::uint64_t count) override { outgoing_.tell_taken_in(from, count); }
  void granted(int from, const Grant& grant) override;
  void granted_directly(int from, const DirectGrant& grant) override;
  void revoked(std::uint32_t context) override { owner_.revoked(context); }
  void bulk_arrived(int from, std::span<const std::byte> piece) override;

 private:
  static void address(Request& request) {
    request.context = request.communicator->context();
    request.source = world_source(*request.communicator, request.peer);
  }
  void restrict(Request& request, std::uint64_t post_index);
  void deliver(Request& request, const IncomingMessage& message);
  void deliver(Request& request, Arrival& arrival);
  void matched(Request& request, const Envelope& message, std::size_t bytes, bool synchronous);
  void grant(Request& request, int source, const Announcement& announcement);
  void fail(Request& request, int error);
  void patch(Request& request, int from, std::size_t bytes, std::span<const std::byte> patch);
  int take_run(int from, Stream& stream, int at_most);
  bool is_to_gather(const log::LogReader& reader, const NodeList<ReceiveNode>& posted);
  [[gnu::noinline]] void take_apart(Request& request, std::span<const std::byte> payload, std::size_t early);
  void count_received(int messages, std::uint64_t bytes) {
    arena_.count(log::Counter::messages_received, static_cast<std::uint64_t>(messages),
                 log::Counter::bytes_received, bytes);
  }

  World& world_;
  log::ArenaWriter& arena_;
  replay::Determinants& determinants_;
  RequestTable& requests_;
  Outgoing& outgoing_;
  DirectCopies& direct_;
  EarlyCopies& early_;
  ReceiveOwner& owner_;
  Matcher matcher_;
  Arrivals arrivals_;
  std::vector<std::deque<Request*>> granted_;  // by source: receives whose bulk is to come, in order
  std::uint64_t awaited_matches_ = 0;
  std::vector<bool> is_lost_;  // by source: what it has announced will not come
  bool holds_ = false;
  bool gathers_ = false;
  std::uint8_t gathered_ = 1;  // so many messages may be left to gather,
  int looks_left_ = 0;         // so often
};

[[gnu::always_inline]] inline bool Receiving::take_briefly(int from, Stream& stream, const log::Cell& cell,
                                                           const Brief& receive) {
  const std::uint64_t label = cell.label;
  const std::uint32_t context = receive.communicator.context();
  if (cell.kind != kind_message || cell.flags != 0 || label_context(label) != context) return false;
  if (receive.tag != MPI_ANY_TAG && label_tag(label) != receive.tag) return false;
  std::span<const std::byte> payload{cell.payload, cell.inline_size};
  const bool is_apart = payload.size() > log::inline_payload_max;
  if (is_apart) {
    const auto record = stream.reader.peek();
    if (!record) return false;
    payload = record->payload;
    if (payload.size() >= RouteLimits::shown_bytes_min) return false;
  }
  if (payload.size() > receive.room.size()) return false;

  stream.reader.advance();
  const std::uint64_t ordinal = stream.ordinals.next(context);
  const bool is_wildcard = receive.source == MPI_ANY_SOURCE;
  const std::uint64_t post_index = matcher_.pass(from, is_wildcard);
  int source = receive.source;
  if (is_wildcard) {
    determinants_.record_match(post_index, {from, ordinal});
    source = receive.communicator.rank_of(from);
  }
  if (is_apart)
    copy_bytes_in(receive.room.data(), payload.data(), payload.size());
  else
    log::copy_small(receive.room.data(), payload.data(), payload.size());
  LLAMADA_CRASH_POINT("match:delivered");
  set_status(receive.status, source, label_tag(label), payload.size());
  count_received(1, payload.size());
  stream.last_bytes = payload.size();
  return true;
}

}  // namespace llamada::mpi
