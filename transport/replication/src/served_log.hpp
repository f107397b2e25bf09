#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "item.hpp"
#include "llamada/log/log_reader.hpp"
#include "llamada/replication/histories.hpp"
#include "llamada/replication/log_name.hpp"
#include "llamada/replication/submessages.hpp"
#include "served_reader.hpp"

namespace llamada::replication {

/// One log as this holder sends it to one keeper: from the record that was asked for on, no further than the
/// credit goes. It is a log of this process, or a history: a log of another one, whose writer is dead or
/// busy, and which is sent as far as it goes.
class ServedLog {
 public:
  /// `frame_bytes_max`: what the link takes. Payloads of more than `eager_bytes_max` stay here until they are
  /// pulled, in a log that keeps all.
  ServedLog(LogNumber alias, const Follow& follow, std::size_t frame_bytes_max,
            std::uint64_t eager_bytes_max);

  LogName name() const { return name_; }
  LogNumber alias() const { return alias_; }
  bool is_attached() const { return is_attached_; }
  /// Begins to serve a log of this process; `cursor` keeps the log's writer from reusing what the keeper has
  /// not applied. False: the first record that was asked for is no longer there.
  bool attach(const LogSource& source, log::CursorEntry* cursor);
  /// Begins to serve a history, or does so again when it has stopped(). `before` is how the same log was
  /// served to this keeper so far, if it was: reading begins there if it can.
  bool attach_history(const LogSource& source, const ServedLog* before);
  bool is_history() const { return is_attached_ && !reader_.is_own(); }
  /// The first record that was asked for and not sent yet.
  std::uint64_t next() const { return next_; }
  /// When the last attach() has failed: the first record that is here.
  std::uint64_t first_here() const { return at_; }
  void set_credit(std::uint64_t bytes);

  /// Whether there are records that were not sent, whatever the credit is.
  bool has_unsent() const {
    return is_attached_ &&
           next_ <= source_.arena.log(source_.index).published.load(std::memory_order_relaxed);
  }
  /// Puts the next records into a frame that is empty; the last of them may begin a payload whose pieces are
  /// then to be sent first. Item::Kind::none: nothing may be sent now.
  Item write(FrameWriter& writer);
  /// Whether pieces of a record are to be sent before anything else of this log.
  bool has_begun() const { return has_begun_; }
  /// Whether these are so many that they are better sent in trains.
  bool has_begun_bulk() const { return has_begun_ && begun_bytes_ > bulk_bytes_min_; }
  /// The frame that write() has begun such a record in is this datagram.
  void was_begun_by(std::uint64_t datagram) { begun_by_ = datagram; }
  /// Puts the next one of these into a frame that is empty. Item::Kind::none: the log has them no longer.
  Item write_piece(FrameWriter& writer);
  /// Puts the same into a frame again. False: the log has it no longer.
  bool write_again(const Item& item, FrameWriter& writer) const;
  /// The keeper has applied what this item says, and all before.
  void applied(const Item& item);

  /// Where a record's payload lies, for a PULL. Nothing: it is not here.
  struct Payload {
    log::LogPosition place;
    std::uint64_t size_bytes = 0;
  };
  std::optional<Payload> find_payload(std::uint64_t record) const;
  /// Puts a piece of that payload into a frame that is empty: from `offset` on, no further than `end`.
  Item write_pulled(std::uint64_t record, const Payload& payload, std::uint64_t offset, std::uint64_t end,
                    FrameWriter& writer) const;

  /// Of a history: whether all that is there was sent, or nothing more can be read, and end() has not been
  /// called since.
  bool is_at_end();
  /// Of a history: whether more of what the keeper has already is to be passed over. Each attempt to write
  /// goes on with that.
  bool is_passing() const { return is_passing_; }
  /// The keeper was told the end. What is written later is sent after go_on().
  void end() { has_ended_ = true; }
  bool has_ended() const { return has_ended_; }
  /// Whether there is more than what end() was called for.
  bool go_on();
  /// Nothing more can be read where the reader stands.
  bool has_stopped() const { return reader_.has_stopped(); }

 private:
  bool begin(std::optional<std::uint64_t> first);
  bool pass_over();
  std::optional<log::Record> peek();
  WireRecord to_wire(const log::Record& record) const;
  bool put_piece(ServedReader& reader, const log::Record& record, const Item& item,
                 FrameWriter& writer) const;
  std::uint64_t piece_bytes(std::uint64_t rest, const FrameWriter& writer) const;
  std::optional<log::LogPosition> find_place(std::uint64_t record) const;

  LogName name_;
  LogNumber alias_;
  std::size_t whole_bytes_max_;  // what fits into a frame as a whole
  std::uint64_t bulk_bytes_min_;
  std::uint64_t eager_bytes_max_;
  LogSource source_;
  bool is_attached_ = false;
  bool keeps_all_ = false;
  ServedReader reader_;
  std::uint64_t at_ = 1;    // the number of the record that the reader gives next
  std::uint64_t next_ = 1;  // to be sent next
  std::uint64_t sent_cost_ = 0;
  std::uint64_t credit_ = 0;
  bool has_ended_ = false;
  bool is_passing_ = false;
  bool has_begun_ = false;  // record next_: its pieces are being sent
  std::uint64_t begun_bytes_ = 0, offset_ = 0;
  std::uint64_t begun_by_ = 0;  // of the pieces that are sent in trains
  struct Absent {
    std::uint64_t record;
    log::LogPosition place;
  };
  std::deque<Absent> absent_;  // in order
};

}  // namespace llamada::replication
