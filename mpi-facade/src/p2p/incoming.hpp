#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "llamada/base/first_look.hpp"
#include "llamada/log/log_reader.hpp"
#include "p2p/matcher.hpp"
#include "p2p/ordinals.hpp"
#include "p2p/record.hpp"
#include "world/world.hpp"

namespace llamada::mpi {

/// A message as it lies in the log. The payload is valid during MessageSink::message_arrived(); where it
/// stays, for as long as histories are kept.
struct IncomingMessage : Envelope {
  std::size_t bytes = 0;
  std::span<const std::byte> payload;
  std::span<const std::byte> patch;  ///< of the payload (patch.hpp)
  std::uint64_t chunk = 0;  ///< where that lies: two messages of a rank with one place there have one payload
  bool synchronous = false;
  bool rendezvous = false;
  bool stays = true;          ///< it lies in its sender's log; else in a copy, which is used again
  Announcement announcement;  ///< of a rendezvous
};

/// What comes from one rank: its log to this one, and what is known of it.
struct Stream {
  log::LogReader reader;
  log::LogReader bulk;
  bool met = false;
  bool open = false;
  bool bulk_open = false;
  bool may_be_brief = false;  ///< open, and its writer need not be told what is taken from it
  bool is_far = false;        ///< its writer is on another node
  log::DirectoryScan scan;
  log::DirectoryScan bulk_scan;
  std::uint64_t released = 0;
  World::Source source;  ///< of `reader`
  Ordinals ordinals;
  FirstLook first_look;             ///< for what comes from there after something was sent there
  std::uint64_t sent_before = 0;    ///< how much that was when a message from there was awaited last
  std::uint64_t last_bytes = 0;     ///< of the message that was taken last
  std::vector<std::byte> patch;     ///< the last that came
  std::uint64_t told_taken_in = 0;  ///< messages, as its writer has been told
};

/// Who takes what comes. `from` is a rank in MPI_COMM_WORLD.
class MessageSink {
 public:
  /// Takes messages from the head of a stream, at most so many, as long as somebody waits for them and there
  /// is nothing special to them; counts them by context. Gives how many: what is next is the caller's; -1:
  /// all is to stay where it is until the next poll().
  virtual int take_awaited(int from, Stream& stream, int at_most) = 0;
  /// The next message in a stream is announced, and its sender is copying it into the log. False when there
  /// was nothing more to do about it.
  virtual bool message_announced(int from, const log::LogReader& reader) = 0;
  virtual void message_arrived(const IncomingMessage& message) = 0;
  virtual void acknowledged(int from, std::uint32_t context, std::uint64_t ordinal) = 0;
  virtual void granted(int from, const Grant& grant) = 0;
  virtual void granted_directly(int from, const DirectGrant& grant) = 0;
  /// The other rank has taken in so many of this rank's messages.
  virtual void taken_in(int from, std::uint64_t count) = 0;
  /// The other rank is to be told that so many of its messages have been taken in here.
  virtual void tell_taken_in(int from, std::uint64_t count) = 0;
  /// The other rank has heard that nobody may use this context any more.
  virtual void revoked(std::uint32_t context) = 0;
  virtual void bulk_arrived(int from, std::span<const std::byte> piece) = 0;

 protected:
  ~MessageSink() = default;
};

/// The streams from all ranks to this one, found when their writers have made them.
class Incoming {
 public:
  /// Looks at the streams from the ranks of MPI_COMM_WORLD. `told_after`: SendBounds::told_after().
  Incoming(World& world, MessageSink& sink, std::uint64_t told_after = 0);

  /// Looks at the stream from this rank of the job too. Not from within poll().
  void meet(int rank);
  /// The ranks of those whose stream has not been found are looked at no longer.
  void part_if_silent(std::span<const int> ranks);
  /// The rank has ended, and nothing more is to be had from it: all that is known of its stream is forgotten.
  /// Not from within poll().
  void part(int rank);
  /// The rank has died for good: hands all that it had sent to the sink, and looks at its stream no longer.
  /// Not from within poll().
  void lose(int rank);
  /// In a copy of the process that has taken over: the streams from other nodes go on behind what was read.
  /// Errors: not_found (a stream is not there).
  Status take_over();
  /// The ranks of other worlds that have been met.
  std::vector<int> strangers() const;
  /// Whether the stream from this rank is looked at.
  bool has_met(int rank) const;

  /// Hands all that is there to the sink, a stream after the other, beginning behind the one that was served
  /// last. One load for each stream when there is nothing. True when there was something.
  bool poll();
  /// Whether a look at all streams is a poll() that finds nothing.
  bool polls_in_vain() {
    if (is_time_to_look())
      for (const int rank : missing_)
        if (has_new_logs(streams_[static_cast<std::size_t>(rank)])) return false;
    for (const int from : open_) {
      const Stream& stream = streams_[static_cast<std::size_t>(from)];
      if (stream.reader.ready() || stream.reader.is_announced() || (stream.bulk_open && stream.bulk.ready()))
        return false;
      stream.reader.expect();
    }
    ++polls_;
    return true;
  }
  /// Whether poll() would find something. Looks for new streams too.
  bool ready();
  /// For who waits for one message and takes it itself: the stream from this rank, or, for any_source, the
  /// only one that there can be. Null when it has not been found, or its writer must be told of each message.
  Stream* one_stream(int& from) {
    if (from == any_source) {
      const bool others_missing =
          missing_.size() > 1 || (missing_.size() == 1 && missing_[0] != world_.rank());
      if (open_.size() != 1 || others_missing) return nullptr;
      from = open_[0];
    }
    const auto index = static_cast<std::size_t>(from);
    return index < streams_.size() && streams_[index].may_be_brief ? &streams_[index] : nullptr;
  }
  /// How many messages of this context have come from there.
  std::uint64_t heard(int from, std::uint32_t context) {
    const auto index = static_cast<std::size_t>(from);
    return index < streams_.size() ? streams_[index].ordinals.last(context) : 0;
  }
  /// How many messages have come, in all contexts.
  std::uint64_t heard_count() const {
    std::uint64_t count = 0;
    for (const Stream& stream : streams_) count += stream.ordinals.total();
    return count;
  }
  /// Hands all that is there in that one to the sink. True when there was something.
  bool drain(int from, Stream& stream);
  /// For who has waited long: ends the job when a stream shows that the rank it comes from has damaged its
  /// arena, so that the wait would be in vain. Looks at each stream; to be called some 100 ms apart.
  void look_for_damage();
  /// For a replacement, whose predecessors' cursors say which logs they have read: ends the job when one of
  /// these can no longer be found.
  void look_for_lost_logs();
  /// While histories are kept, records stay in the logs of this node. This gives everything back that was
  /// consumed, now and from now on: nothing may refer to it any more. Copies are given back always.
  void release_consumed();

 private:
  /// Streams that are not there yet, of ranks that may never send, are looked for so rarely while others are.
  static constexpr unsigned polls_between_looks = 64;
  bool is_time_to_look() const {
    return !missing_.empty() && (open_.empty() || polls_ % polls_between_looks == 0);
  }

  bool drain_bulk(int from, Stream& stream);
  bool is_to_release(const Stream& stream) const {
    return (releases_ || stream.source.is_copy) && stream.reader.position_chunk() != stream.released;
  }
  void release(int from, Stream& stream);
  void look_whether_to_tell(int from, Stream& stream);
  bool take_small(int from, Stream& stream, const log::Cell& cell);
  void handle(int from, Stream& stream, const log::Record& record);
  /// Whether it pays to look for the stream's log: who waits asks this again and again of ranks that never
  /// send.
  static bool has_new_logs(const Stream& stream) {
    const auto& arena = stream.source.arena;
    return arena.base != nullptr && arena.size_bytes >= sizeof(log::ArenaHeader) &&
           (arena.header().log_count.load(std::memory_order_relaxed) != stream.scan.scanned ||
            arena.header().reuses.load(std::memory_order_relaxed) != stream.scan.reuses);
  }
  bool find(int from, Stream& stream);
  bool find_bulk(int from, Stream& stream);
  void find_streams();
  bool open_reader(int from, log::LogKey key, log::DirectoryScan& scan, log::LogReader& reader);
  void look_for_damage(int from, log::LogReader& reader);
  [[noreturn]] void broken(int from, const log::LogReader& reader);

  World& world_;
  MessageSink& sink_;
  std::vector<Stream> streams_;
  std::vector<int> open_;     // streams with a reader
  std::vector<int> missing_;  // the others
  std::size_t next_ = 0;
  unsigned polls_ = 0;
  bool releases_ = false;
  const std::uint64_t told_after_;
};

}  // namespace llamada::mpi
