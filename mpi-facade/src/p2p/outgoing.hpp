#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "llamada/log/log_writer.hpp"
#include "p2p/direct_copies.hpp"
#include "p2p/kept_payloads.hpp"
#include "p2p/ordinals.hpp"
#include "p2p/record.hpp"
#include "p2p/request.hpp"
#include "p2p/route.hpp"
#include "p2p/send_bounds.hpp"
#include "world/past_log.hpp"
#include "world/world.hpp"

namespace llamada::mpi {

/// Who is told about sends.
class SendOwner {
 public:
  /// The buffer may be used again; a synchronous send is matched.
  virtual void send_complete(Request& request) = 0;
  /// A replacement is about to publish a send that no predecessor has made. False: not now, which is to be
  /// asked again later. Ends the job when the replay must not come to this.
  virtual bool may_send_new() = 0;
  /// May a replacement tell others something that no predecessor has told them, and that need not wait for
  /// the end of the replay? Ends no job.
  virtual bool may_tell_new() = 0;
  /// A replacement sends something else than its predecessor did; the text says what. Does not return.
  virtual void differs(const std::string& difference) = 0;
  /// The arena's memory is used up. The send is tried again.
  virtual void no_memory(const Error& error) = 0;
  /// How many messages of this context have come from there.
  virtual std::uint64_t heard(int rank, std::uint32_t context) = 0;

 protected:
  ~SendOwner() = default;
};

/// The streams from this rank to all ranks: eager messages, announced ones with the bulk lane,
/// acknowledgements; in a replacement the comparison with what the predecessors sent. Nothing here waits:
/// what finds no room is queued, in order, and advance() tries again.
class Outgoing {
 public:
  struct Options {
    RouteLimits limits;
    std::uint64_t log_bytes_max = 512 * 1024;
    std::size_t bulk_piece_bytes = 64 * 1024;
    SendBounds bounds;
    bool has_short_way = true;  ///< send_small() and begin_small() may say yes
    bool keeps = false;         ///< every message goes whole into the log, and stays
    bool compares = false;      ///< a replacement: what predecessors sent is compared, not sent
  };

  /// `direct` is borrowed.
  Outgoing(World& world, SendOwner& owner, DirectCopies& direct, const Options& options);

  /// A standard send of a contiguous buffer that is over at return. False when it has to be begun as a
  /// request: there is no room, or its bytes are to follow after the match.
  bool send_now(const Buffer& buffer, int destination, std::uint32_t context, int tag);
  /// The same for at most log::publish_fast_bytes_max, and only at once: false when send_now() has to look
  /// closer.
  bool send_small(std::span<const std::byte> payload, int rank, std::uint32_t context, int tag);
  /// send_small() in two steps: begin_small() says whether there is room, and what it gives sends, before
  /// anything else happens here.
  class SmallSend;
  SmallSend begin_small(int rank, std::size_t bytes);
  /// Begins a send; may be complete at return. The request must stay until it is.
  void send(Request& request);

  void acknowledge(int destination, std::uint32_t context, std::uint64_t ordinal);
  void grant(int destination, const Grant& grant);
  void grant_directly(int destination, const DirectGrant& grant);
  /// SEND_WINDOW and RESOURCE_LIMITS: so many of that rank's messages have been taken in here.
  void tell_taken_in(int destination, std::uint64_t count);
  void acknowledged(int from, std::uint32_t context, std::uint64_t ordinal);
  void taken_in(int from, std::uint64_t count);
  void granted(int from, const Grant& grant);
  void granted_directly(int from, const DirectGrant& grant);

  /// Goes on with what waits for room. True when something was done.
  bool advance() { return busy_.empty() ? false : advance_busy(); }
  /// What a rank that waits may do again and again, for its next message to whom it has sent last:
  /// LogWriter::take_room_ahead().
  void take_room_ahead() {
    if (last_sent_to_) last_sent_to_->log.take_room_ahead();
  }
  /// How many records this rank has been sent.
  std::uint64_t published_to(int rank) const {
    const auto index = static_cast<std::size_t>(rank);
    return index < destinations_.size() ? destinations_[index]->log.published() : 0;
  }
  /// Whether nothing waits for room or a grant. (Synchronous sends may be without their acknowledgement.)
  bool idle() const { return busy_.empty() && announced_count_ == 0; }
  /// Whether something waits for room, or is being sent.
  bool is_busy() const { return !busy_.empty(); }
  /// Whether a message to this rank is announced and has not been granted.
  bool awaits_grant(int rank) const {
    const auto index = static_cast<std::size_t>(rank);
    return announced_count_ > 0 && index < destinations_.size() && !destinations_[index]->announced.empty();
  }
  /// In a replacement: the first thing that the predecessors sent, or acknowledged, and that it has not
  /// repeated; empty if there is none.
  std::string left_over();
  /// The replay is over: the owner is no longer asked. What was held back until now goes.
  void went_live();
  /// The rank has ended, and no request is left that concerns it: what was sent to it is given back.
  void part(int rank);
  /// The rank has died: sends to it fail with MPIX_ERR_PROC_FAILED from now on, also those that wait.
  void lose(int rank);
  /// Ends the sends that wait and are of this context, with MPIX_ERR_REVOKED.
  void end_sends(std::uint32_t context);
  /// Tells that rank that nobody may use this context any more.
  void tell_revoked(int rank, std::uint32_t context);
  /// From now on what was consumed is reused.
  void keep_no_longer();
  /// The messages that have been sent, in all contexts; of those to be sent none may wait.
  std::uint64_t sent_count() const;
  /// Gives its logs away: this object has come to its end.
  void leave_logs(std::vector<std::unique_ptr<PastLog>>& to);
  /// In a copy of the process, in the arena that it has taken over, where nothing waits: what predecessors
  /// have sent since the copy was made is compared, not sent. Errors: those of log::LogWriter::open().
  Status take_over();
  /// For messages from now on.
  void set_eager_bytes_max(std::size_t bytes) { options_.limits.eager_bytes_max = bytes; }
  void set_direct_bytes_min(std::size_t bytes) { options_.limits.memory_bytes_min = bytes; }

 private:
  using Filling = log::LogWriter::Filling;

  struct Control {
    std::uint8_t kind;
    std::uint64_t label;
    std::array<std::byte, sizeof(DirectGrant)> payload;
    std::size_t payload_bytes;
  };
  /// The second log to a rank, for messages that come in pieces after their match.
  struct BulkLane {
    log::LogWriter log;
    log::DirectoryScan scan;
    bool is_open = false;
  };
  /// What predecessors sent there and this incarnation has not repeated.
  struct Predecessor {
    log::LogReader reader;
    std::uint64_t left = 0;  // records
    // (context, ordinal)
    std::set<std::pair<std::uint32_t, std::uint64_t>> acknowledgements;
    std::span<const std::byte> patch;  // the last one
  };
  class PastDestination;
  struct Destination {
    int rank = 0;
    const std::atomic<std::uint32_t>* sleeping = nullptr;  // its word; null: the world is to be asked
    bool open = false;
    bool busy = false;
    bool is_lost = false;      // its process has died for good; not open then
    bool is_reachable = true;  // it may reach this process's memory
    log::LogWriter log;
    log::DirectoryScan scan;
    BulkLane bulk;
    Ordinals ordinals;
    std::uint64_t taken_in = 0;       // messages, as the receiver has told
    std::uint64_t heard_before = 0;   // messages, when a large one was written into its log last
    std::uint64_t heard_at_send = 0;  // the same, when one was sent that waits for its match
    bool crossing = false;            // another one came before that was matched: both have work to do
    Request* first = nullptr;         // waiting for room
    Request* last = nullptr;
    std::deque<Control> controls;                             // the same
    std::vector<Request*> unacknowledged;                     // that wait for their match
    std::size_t written_unmatched = 0;                        // those of them with is_written
    std::set<std::pair<std::uint32_t, std::uint64_t>> early;  // acknowledged before it was sent (again)
    std::vector<Request*> announced;
    std::deque<Request*> granted;
    Predecessor predecessor;
    KeptPayloads kept;

    /// Where acknowledgements and grants go.
    log::LogWriter& control_log() { return log; }
  };

  /// A destination to which a small message may go at once; null: to be looked at closer.
  Destination* ready(int rank) {
    if (static_cast<std::size_t>(rank) >= destinations_.size()) [[unlikely]]
      return nullptr;
    Destination& to = *destinations_[static_cast<std::size_t>(rank)];
    if (!to.open || to.first || to.predecessor.left > 0 || !has_short_way_) [[unlikely]]
      return nullptr;
    return &to;
  }
  /// A message of a send that is over is in the log.
  void sent(Destination& to, std::size_t bytes, std::uint32_t context) {
    LLAMADA_CRASH_POINT("send:logged");
    to.ordinals.next(context);
    arena_.count(log::Counter::messages_sent, 1, log::Counter::bytes_sent, bytes);
    wake(to);
  }
  Destination& destination(int rank) {
    if (static_cast<std::size_t>(rank) >= destinations_.size()) [[unlikely]]
      grow(rank + 1);
    Destination& to = *destinations_[static_cast<std::size_t>(rank)];
    if (!to.open) [[unlikely]]
      open(to);
    return to;
  }
  void grow(int size);
  log::LogOptions log_options() const;
  Status take_over(Destination& to);
  void open(Destination& to);
  void open_bulk(Destination& to);
  bool send_now_slowly(Destination& to, const Buffer& buffer, std::uint32_t context, int tag);
  Route route(const Destination& to, const std::byte* memory, std::size_t bytes) const {
    return choose({.bytes = bytes,
                   .lies_together = memory != nullptr || bytes == 0,
                   .keeps = options_.keeps,
                   .is_reachable = to.is_reachable,
                   .is_to_itself = to.rank == world_.rank(),
                   .is_crossing = to.crossing},
                  options_.limits);
  }
  Route route(const Destination& to, const Request& request) const;
  /// A message that lies together goes whole into the log; false when there is no room for it now.
  bool log_message(Destination& to, std::span<const std::byte> payload, std::uint16_t flags,
                   std::uint64_t label, const Route& route);
  /// The same for one that does not, or whose buffer is another's.
  bool log_message(Destination& to, const Request& request, std::uint16_t flags, const Route& route);
  /// Its payload is copied into the log, in view of a receiver that waits for it if it is large.
  bool write(Destination& to, std::span<const std::byte> payload, std::uint16_t flags, std::uint64_t label,
             const Route& route);
  /// A record shows again what the log has already from this memory, if it has.
  Again publish_again(Destination& to, std::span<const std::byte> payload, std::uint16_t flags,
                      std::uint64_t label, const Route& route);
  Again publish_nearly_again(Destination& to, std::span<const std::byte> payload, std::uint16_t flags,
                             std::uint64_t label, const Route& route);
  Again reserve_again(Destination& to, std::span<const std::byte> payload, std::uint16_t flags,
                      std::uint64_t label, const Route& route, log::Reservation& reservation,
                      Differences* differences = nullptr);
  bool has_answered(Destination& to, std::uint64_t label);
  bool publish(Destination& to, Request& request);
  bool may_publish_new();
  /// Into the log, if that takes less time. False when it is to go by memory.
  bool log_if_better(Destination& to, Request& request, const Route& route);
  void message_published(Destination& to, Request& request, bool awaits_match);
  /// A record of our own in one of its logs; false when there is no room for it now.
  bool publish_small(Destination& to, log::LogWriter& log, std::uint8_t kind, std::uint64_t label,
                     std::span<const std::byte> payload);
  bool announce(Destination& to, Request& request, Way way);
  Request* take_announced(Destination& to, std::uint64_t send_id);
  void published(Destination& to, Request& request, bool awaits_match);
  bool room(Destination& to, log::LogWriter& log, bool bulk, std::size_t bytes, log::Reservation& reservation,
            Filling filling = Filling::in_place);
  bool publish_control(Destination& to, const Control& control);
  template <typename Payload>
  void control(Destination& to, std::uint8_t kind, std::uint64_t label, const Payload& payload);
  void add_reader(Destination& to, bool bulk);
  static std::uint64_t under_way(const Destination& to);
  /// Whether a message to there has to wait until others have been taken in.
  bool is_at_bound(const Destination& to) const;
  bool advance_busy();
  bool advance(Destination& to);
  bool advance_bulk(Destination& to);
  void mark_busy(Destination& to);
  template <typename Ends>
  void fail_sends(Destination& to, int error, Ends ends);
  /// After each commit that it may be waiting for.
  void wake(Destination& to) {
    last_sent_to_ = &to;
    world_.wake_if_asleep(to.rank, to.sleeping);
  }
  /// The predecessors' next message to there; stays until take_predecessors_message().
  std::optional<log::Record> predecessors_message(Destination& to);
  static void take_predecessors_message(Destination& to);
  static void find_acknowledgements(Destination& to);
  bool repeats_acknowledgement(Destination& to, std::uint32_t context, std::uint64_t ordinal);
  void compare(Destination& to, const Request& request, const log::Record& record);
  std::string name(const Destination& to, std::uint64_t label, std::uint64_t ordinal) const;

  World& world_;
  log::ArenaWriter& arena_;
  SendOwner& owner_;
  DirectCopies& direct_;
  Options options_;
  bool live_;
  bool has_short_way_;  // live, and a small message needs no look at anything but its log
  std::vector<std::unique_ptr<Destination>> destinations_;
  std::vector<Destination*> busy_;
  Destination* last_sent_to_ = nullptr;
  std::uint64_t next_send_id_ = 1;
  std::uint64_t announced_count_ = 0;
};

class Outgoing::SmallSend {
 public:
  explicit operator bool() const { return to_ != nullptr; }
  [[gnu::always_inline]] void operator()(std::span<const std::byte> payload, std::uint32_t context,
                                         int tag) const {
    to_->log.publish_fast(kind_message, 0, make_label(context, tag), payload);
    outgoing_->sent(*to_, payload.size(), context);
  }

 private:
  friend class Outgoing;
  SmallSend(Outgoing* outgoing, Destination* to) : outgoing_(outgoing), to_(to) {}
  Outgoing* outgoing_;
  Destination* to_;
};

inline Outgoing::SmallSend Outgoing::begin_small(int rank, std::size_t bytes) {
  Destination* to = ready(rank);
  return {this, to && to->log.can_publish_fast(bytes) ? to : nullptr};
}

inline bool Outgoing::send_small(std::span<const std::byte> payload, int rank, std::uint32_t context,
                                 int tag) {
  const auto publish = begin_small(rank, payload.size());
  if (!publish) [[unlikely]]
    return false;
  publish(payload, context, tag);
  return true;
}

}  // namespace llamada::mpi
