#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "llamada/base/result.hpp"
#include "llamada/log/log_writer.hpp"
#include "llamada/replication/held_datagrams.hpp"
#include "llamada/replication/histories.hpp"
#include "llamada/replication/link.hpp"
#include "llamada/replication/log_name.hpp"
#include "llamada/replication/session.hpp"
#include "llamada/replication/submessages.hpp"

namespace llamada::replication {

struct Peer;
struct Lane;
struct Item;
struct Feed;
class ServedLog;
class KeptCopy;
enum class KeptCopyOutcome : std::uint8_t;

/// What a carrier cannot decide by itself. Called from within Carrier::work(); must not call the carrier.
class CarrierEvents {
 public:
  virtual ~CarrierEvents() = default;
  /// A holder that a copy follows, or catches up with, has records of this log only from a later one on.
  /// `holder` may have the rest, if it is not that holder itself.
  virtual void gone(const LogName&, const Gone&) {}
  /// A history is over: what follows has to be asked of the writer.
  virtual void ended(const LogName&, const End&) {}
  /// A frame was dropped.
  virtual void dropped(FrameFault) {}
};

struct CarrierOptions {
  Identity identity;
  /// Larger payloads of a log that keeps all stay with the holder until they are pulled. All holders of a log
  /// must say the same.
  std::uint64_t eager_bytes_max = std::numeric_limits<std::uint64_t>::max();
  /// Of all pulls together: bytes that were asked for and have not come.
  std::uint64_t pulled_bytes_max = 2 << 20;
  /// Asked for at a time.
  std::uint64_t pull_bytes_max = 256 << 10;
  /// Logs that one peer may follow: as many as an arena has.
  std::size_t follows_max = 16384;
  /// Datagrams that may be held back until their turn, of all peers together.
  std::size_t held_datagrams_max = 256;
  CarrierEvents* events = nullptr;
  /// The logs of other processes that are served. Null: none.
  Histories* histories = nullptr;
  /// The number of the present cut of this node, in a job that makes any (log/cuts.hpp). What another process
  /// has sent in a later one is not applied before this node has begun it. Null: 0.
  const std::atomic<std::uint64_t>* cut = nullptr;
};

/// What is known of another endpoint.
struct PeerState {
  std::uint16_t incarnation = 1;
  /// Nothing is sent to it, or taken from it, until it has a higher incarnation.
  bool is_lost = false;
  bool is_done = false;  ///< it needs nothing any more: what it has not acknowledged counts as applied
  Address small;
  Address bulk;
};

/// The end of all replication in one process: it serves logs to keepers elsewhere, and keeps copies of
/// others' logs in its arena. Records travel on the link for small frames; payloads that do not fit into a
/// frame, and those that are pulled, on the one for bulk, in trains. A state machine: it knows no socket, no
/// clock and no thread.
///
/// The links, the arena and all logs must outlive it. Threads: one.
class Carrier {
 public:
  /// The links may be the same kind with other limits; datagrams have at least 256 bytes.
  Carrier(const CarrierOptions& options, Link& small, Link& bulk, log::ArenaWriter& own);
  /// Of a process without an arena, which only serves histories: publish_to() and follow() are refused.
  Carrier(const CarrierOptions& options, Link& small, Link& bulk);
  Carrier(const Carrier&) = delete;
  Carrier& operator=(const Carrier&) = delete;
  ~Carrier();

  /// What is true of a peer now. A higher incarnation begins its sessions anew: this end follows its logs
  /// again from where the copies end. A peer that is done stays so: no more is sent to it or taken from it,
  /// it holds no log of this process, and pulls from it fail. Errors: invalid_argument (the incarnation is
  /// lower, the peer was done before, or a link refuses the address).
  Status meet(EndpointNumber peer, const PeerState& state);

  // -- Serving.

  /// A log of this process, to be named to grown().
  using OwnLog = std::uint32_t;
  /// Lets `keeper` follow this log of the own arena as {identity.endpoint, key}. Its cursor keeps what the
  /// keeper has not applied. Errors: out_of_resources, unsupported (there is no arena).
  Result<OwnLog> publish_to(log::LogWriter& log, log::LogKey key, EndpointNumber keeper);
  /// The same of a log that keeps all and has no writer any more.
  Result<OwnLog> publish_ended(std::uint32_t index, log::LogKey key, EndpointNumber keeper);
  /// After commits: sends what windows and credit allow, at once.
  void grown(OwnLog log, Time now);
  /// After commits to any logs that this peer follows, and after its logs were read here: sends what windows
  /// and credit allow, and gives credit, at once.
  void push(EndpointNumber peer, Time now);
  /// Whether this keeper, to which the log was published, may still read it: it has not unfollowed it, and is
  /// not done.
  bool is_read_by(log::LogKey key, EndpointNumber keeper) const;
  /// The log, which nobody reads any more (is_read_by()), was discarded. Its key may be that of another one.
  void withdraw(log::LogKey key);

  // -- Keeping.

  struct FollowOptions {
    /// Of the copy, which LogWriter::add_reader() gets.
    std::uint32_t local_readers = 1;
    std::uint64_t window_bytes = 512 << 10;
    /// First this holder is asked for what it has, by catch_up(); `holder` is followed when that is over.
    std::optional<EndpointNumber> history;
    /// A new copy begins behind so many records of the log.
    std::uint64_t begins_behind = 0;
  };
  /// Keeps a copy of this log under copy_key() in the own arena and follows `holder` from where it ends;
  /// again for a copy that is kept: from another holder. The writer of the copy stays in place; nothing but
  /// readers may be added to it. Errors: invalid_argument (a peer was not met), out_of_resources, unsupported
  /// (there is no arena).
  Result<log::LogWriter*> follow(EndpointNumber holder, const LogName& name, const FollowOptions& options);
  /// Asks another holder for what it has of a log of which a copy is kept, beside the holder that is followed
  /// and may be silent: both feed the copy. Over with CarrierEvents::ended(), or when that holder no longer
  /// has it. Nothing while such a catch-up goes on. Asking again when there is nothing new costs one
  /// submessage for all logs of that holder. Errors: invalid_argument (the holder was never met, or is the
  /// one that is followed; no copy is kept), out_of_resources.
  Status catch_up(EndpointNumber holder, const LogName& name);
  /// The same, from where the copy ends: what this holder is still sending to an older question does not
  /// count.
  Status catch_up_anew(EndpointNumber holder, const LogName& name);
  /// Whether a catch-up goes on.
  bool is_catching_up(const LogName& name) const;
  /// Whether this holder has told the end of what it has, behind the last question.
  bool has_caught_up(EndpointNumber holder, const LogName& name) const;

  /// Follows the log no more, and discards the copy; pulls from it fail. Nobody may read the copy any more.
  void unfollow(const LogName& name);

  /// Called with false if the payload can no longer be had.
  using Done = std::function<void(bool is_complete)>;
  /// Fetches the payload of an absent record into `into`, which is as long and stays until `done` was called.
  /// `done` may pull again. Errors: not_found (no copy of this log is kept), already_exists (it is being
  /// fetched).
  Status pull(const LogName& name, std::uint64_t record, std::span<std::byte> into, Done done);

  /// Whether this copy has fewer records than that, and is not full of records that its readers have not
  /// read: so more will come, if the log has more. False for a log that is not followed.
  bool is_behind(const LogName& name, std::uint64_t records);

  // -- Both.

  /// Whether this end waits in a call, so that it answers at once.
  void set_waiting(bool waits) { waits_ = waits; }
  /// Takes what has come, and sends what is due. True: something has come. Never waits.
  bool work(Time now);
  /// Acknowledges all that was applied: before this process sleeps.
  void acknowledge_all(Time now);
  /// When work() is to be called even if nothing comes; `never`: no need.
  Time due() const { return due_; }
  /// Whether each peer that is neither lost nor done has applied all that it is to have: all records of the
  /// logs that were published to it, too, if it follows them or has yet to.
  bool is_idle() const {
    return is_idle([](EndpointNumber) { return true; });
  }
  /// The same for those peers for which `counts` holds.
  bool is_idle(const std::function<bool(EndpointNumber)>& counts) const;

  /// Whether what came last could not be applied, because the own arena has no memory left: it is tried
  /// again.
  bool lacks_memory() const { return lacks_memory_; }

  /// Frames that were dropped.
  std::uint64_t faults(FrameFault fault) const { return faults_[static_cast<std::size_t>(fault)]; }
  /// Bytes that pulls have asked for and that have not come.
  std::uint64_t pulled_bytes() const;
  /// Datagrams that wait for one before them, or for memory.
  std::size_t held_datagrams() const { return options_.held_datagrams_max - held_.free_count(); }
  /// When a frame of this peer came last that said anything new; 0: never.
  Time heard_at(EndpointNumber peer) const;
  /// Peers that something is due for. The cost of work() grows with these, and not with all that were met.
  std::size_t active_peers() const { return active_.size(); }

 private:
  struct Source;
  struct Copy;
  struct PullRequest;

  Carrier(const CarrierOptions& options, Link& small, Link& bulk, log::ArenaWriter* own);
  void forget(Peer& peer);
  void begin_again(Peer& peer);
  void end(Peer& peer);
  bool receive_bulk(Time now);
  Result<log::CursorEntry*> keeper_cursor(log::LogKey key, EndpointNumber keeper);
  OwnLog publish(std::uint32_t index, log::LogKey key, EndpointNumber keeper, log::CursorEntry* cursor);
  void attach_waiting(Source& source);
  void attach(Peer& peer, ServedLog& served);
  void attend_active(Time now);
  bool is_awaited(const Source& source, const std::function<bool(EndpointNumber)>& counts) const;
  void note_due(Time due);
  void note_due(Peer& peer, Time due);

  // carrier_receiving.cpp
  bool receive_small(Time now);
  void take(std::span<const std::byte> datagram, bool is_bulk, Time now);
  bool take_acknowledgement(Peer& peer, Lane& lane, const FrameHead& head, Time now);
  bool take_number(Peer& peer, Lane& lane, const CheckedFrame& frame, std::span<const std::byte> datagram,
                   Time now);
  void apply_held(Peer& peer, Time now);
  std::uint32_t present_cut() const;
  bool apply(Peer& peer, const FrameHead& head, std::span<const std::byte> body);
  bool apply(Peer& peer, const Submessage& message);
  bool apply_to_copy(Peer& peer, const Submessage& message);
  bool apply_records(Peer& peer, const Submessage& message);
  bool take_outcome(Feed& feed, KeptCopyOutcome outcome);
  Peer* find_or_introduce(EndpointNumber number);
  void take_follow(Peer& peer, LogNumber alias, const Follow& follow);
  void take_pull(Peer& peer, LogNumber alias, const Pull& pull);
  void count(FrameFault fault);

  // carrier_sending.cpp
  FrameHead head_for(const Peer& peer, const Lane& lane, std::uint64_t number) const;
  void send(Peer& peer, Lane& lane, FrameWriter& writer, std::uint64_t number);
  std::uint64_t send_new(Peer& peer, FrameWriter& writer, const Item& item, Time now);
  void pump(Peer& peer, Time now);
  void repair(Peer& peer, Lane& lane, Time now);
  void write_again(Peer& peer, const Item& item, FrameWriter& writer);
  void write_control(const Item& item, FrameWriter& writer);
  void send_controls(Peer& peer, Time now);
  void send_records(Peer& peer, Time now);
  void end_history(Peer& peer, ServedLog& served, Time now);
  bool send_train(Peer& peer, Time now);
  Item write_begun(Peer& peer, FrameWriter& writer);
  Item write_pulled(Peer& peer, FrameWriter& writer);
  std::span<std::byte> bulk_room(std::size_t index);

  // carrier_histories.cpp
  void serve_history(Peer& peer, ServedLog& served, const ServedLog* before);
  void take_look(Peer& peer);
  bool take_end(Peer& peer, LogNumber alias, const End& end);
  void end_catch_up(Feed& feed);
  void end_catch_ups(Peer& holder);
  Result<Copy*> find_to_catch_up(const LogName& name, EndpointNumber holder);
  Status ask_history(Copy& copy, Peer& holder);

  // carrier_keeping.cpp
  Result<Feed*> feed_from(Copy& copy, Peer& holder);
  Result<log::LogWriter> open_copy(const LogName& name, const FollowOptions& options);
  void follow_with_pulls(Copy& copy, Feed& feed);
  void send_follow(Feed& feed);
  void note_open(bool was_open, const KeptCopy& copy);
  void give_credit(Peer& peer, Time now);
  void ask_for_pieces();
  void ask_again(PullRequest& pull);
  using Pulls = std::vector<std::unique_ptr<PullRequest>>;
  Pulls::iterator find_pull(const Peer& peer, LogNumber alias, std::uint64_t record);
  void take_pulled(Peer& peer, LogNumber alias, const PieceBody& piece);
  void finish_pull(Pulls::iterator at, bool is_complete);
  void take_gone(Peer& peer, LogNumber alias, const Gone& gone);

  // carrier_parting.cpp
  void take_unfollow(Peer& peer, LogNumber alias);
  void part(Feed& feed);
  void let_go(Peer& keeper, const LogName& name);
  void answer_unfollows(Peer& peer);

  CarrierOptions options_;
  Link& small_;
  Link& bulk_;
  log::ArenaWriter* own_;  // null: there is none
  DatagramPool held_;
  std::vector<std::byte> room_;        // for one frame
  std::vector<std::byte> bulk_rooms_;  // for the heads of a train
  std::unordered_map<EndpointNumber, std::unique_ptr<Peer>> peers_;
  std::vector<Peer*> active_;  // peers that something is due for: work() looks at no others
  std::vector<std::unique_ptr<Source>> sources_;
  std::map<LogName, OwnLog> source_of_;
  std::map<LogName, Copy> copies_;
  Pulls pulls_;
  bool waits_ = false;
  bool lacks_memory_ = false;
  bool expects_bulk_ = false;
  std::size_t open_copies_ = 0;  // to which pieces are to come
  Time look_at_bulk_{};          // even if nothing is expected
  Time due_ = never;
  std::array<std::uint64_t, static_cast<std::size_t>(FrameFault::count)> faults_{};
};

}  // namespace llamada::replication
