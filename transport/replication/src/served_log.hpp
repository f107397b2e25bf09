#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "item.hpp"
#include "llamada/log/log_reader.hpp"
#include "llamada/replication/log_name.hpp"
#include "llamada/replication/submessages.hpp"

namespace llamada::replication {

/// Where this process reads a log that it serves.
struct LogSource {
  log::PeerArena arena;
  std::uint32_t index = 0;
  /// It is the history of a writer that is dead or busy: END is said behind its last record.
  bool is_history = false;
};

/// One log as this holder sends it to one keeper: from the record that was asked for on, no further than the
/// credit goes.
class ServedLog {
 public:
  /// `frame_bytes_max`: what the link takes. Payloads of more than `eager_bytes_max` stay here until they are
  /// pulled, in a log that keeps all.
  ServedLog(LogNumber alias, const Follow& follow, std::size_t frame_bytes_max,
            std::uint64_t eager_bytes_max);

  LogName name() const { return name_; }
  LogNumber alias() const { return alias_; }
  bool is_attached() const { return is_attached_; }
  /// Begins to serve; `cursor`, if there is one, keeps the log's writer from reusing what the keeper has not
  /// applied. False: the first record that was asked for is no longer there.
  bool attach(const LogSource& source, log::CursorEntry* cursor);
  /// The first record that was asked for and not sent yet.
  std::uint64_t next() const { return next_; }
  /// When attach() has failed: the first record that is here.
  std::uint64_t first_here() const { return at_; }
  void set_credit(std::uint64_t bytes);

  /// Whether there are records that were not sent, whatever the credit is.
  bool has_unsent() const {
    return is_attached_ &&
           next_ <= source_.arena.log(source_.index).published.load(std::memory_order_relaxed);
  }
  /// Puts the next records, or a piece of one, into a frame that is empty. Item::Kind::none: nothing may be
  /// sent now.
  Item write(FrameWriter& writer);
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

  /// Whether all records that are there were sent, of a history that end() has not been called for.
  bool is_at_end();
  void end() { has_ended_ = true; }
  bool failed() const { return reader_.failed(); }

 private:
  std::optional<log::Record> peek();
  WireRecord to_wire(const log::Record& record) const;
  Item write_piece(FrameWriter& writer);
  log::LogReader reader_at(const log::LogPosition& place) const;
  std::optional<log::LogPosition> find_place(std::uint64_t record) const;

  LogName name_;
  LogNumber alias_;
  std::size_t whole_bytes_max_;  // what fits into a frame as a whole
  std::uint64_t eager_bytes_max_;
  LogSource source_;
  bool is_attached_ = false;
  bool keeps_all_ = false;
  log::LogReader reader_;
  std::uint64_t at_ = 1;    // the number of the record that the reader gives next
  std::uint64_t next_ = 1;  // to be sent next
  std::uint64_t sent_cost_ = 0;
  std::uint64_t credit_ = 0;
  bool has_ended_ = false;
  bool has_begun_ = false;  // record next_: its pieces are being sent
  std::uint64_t offset_ = 0;
  struct Absent {
    std::uint64_t record;
    log::LogPosition place;
  };
  std::deque<Absent> absent_;  // in order
};

}  // namespace llamada::replication
