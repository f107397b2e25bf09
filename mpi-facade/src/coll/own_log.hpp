#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "coll/record.hpp"
#include "llamada/base/result.hpp"
#include "llamada/log/log_reader.hpp"
#include "llamada/log/log_writer.hpp"
#include "p2p/kept_payloads.hpp"
#include "world/world.hpp"

namespace llamada::mpi::coll {

/// A collective log as its writer sees it: the writer, the payloads that can be shown again, and in a
/// replacement the place in the log that its predecessors left. A member publishes the same records in the
/// same order in each incarnation, so a replacement compares the records that are there and writes the
/// others.
///
/// Not opened, it has no readers: it takes all that is published and keeps nothing.
///
/// Threads: the rank's MPI thread.
class OwnLog {
 public:
  struct Options {
    log::LogKey key;
    std::size_t reader_count = 0;
    bool keep_all = false;
    /// The most bytes in chunks that not all readers have consumed, when histories are not kept.
    std::size_t bound_bytes = 0;
    /// In a replacement: whether it may publish records that no predecessor has published. Empty: always.
    std::function<bool()> may_publish;
  };
  OwnLog() = default;
  /// Errors: those of log::LogWriter::open().
  Status open(log::ArenaWriter& arena, Options options);
  bool is_open() const { return is_open_; }
  /// In a copy of the process, in the arena that it has taken over: what predecessors have published since
  /// the copy was made is compared. Errors: as open().
  Status take_over(log::ArenaWriter& arena, std::function<bool()> may_publish);

  /// Publishes what takes a few stores. False when it takes more, or while the replay is not over.
  bool try_publish(const RecordHead& head, std::span<const std::byte> payload) {
    return !predecessor_ && writer_.try_publish(head.record_kind(), head.flags(), head.label(), payload);
  }
  /// Shows the payload again that was published from this memory last, if the log has it and it is unchanged.
  bool publish_again(const RecordHead& head, std::span<const std::byte> payload, std::uint64_t bytes_given);

  /// Room for one record, to be filled (in place, or by fill()) and then committed or compared. None when
  /// there is no room now, for which `refused` is called with the reason; nor, without that call, while the
  /// replay forbids to publish. `run_bytes`: as for log::LogWriter::reserve().
  std::optional<std::span<std::byte>> room(std::size_t bytes, log::LogWriter::Filling filling,
                                           std::size_t run_bytes,
                                           const std::function<void(const Error&)>& refused);
  /// Fills the room, which is as long as the payload.
  void fill(std::span<std::byte> room, std::span<const std::byte> payload);
  /// Whether the room is a record of this log: then commit() is to follow, else compare().
  bool is_reserved() const { return static_cast<bool>(reservation_); }
  /// Makes the record visible; gives the length of its payload. `bytes_given`: of how many it is a piece.
  std::size_t commit(const RecordHead& head, std::uint64_t bytes_given);
  /// Compares the room's content with the predecessor's next record, and moves behind that. Empty when they
  /// are the same, else the end of a sentence that says how they differ. Without a log: always empty.
  std::string compare(const RecordHead& head);
  std::size_t compared_bytes() const { return again_.size(); }

  /// The predecessor's first record that has not been repeated; none when all have.
  std::optional<log::Record> left_over();

  /// World::publish_to()
  void publish_to(World& world, log::LogKey key, std::span<const int> world_ranks) {
    world.publish_to(writer_, key, world_ranks);
  }
  void add_reader(const log::CursorEntry* cursor) { writer_.add_reader(cursor); }
  std::size_t reader_count() const { return writer_.reader_count(); }
  /// From now on records that all readers have consumed are given back.
  void stop_keeping();
  /// Gives back all of its memory, and its entry: no reader may be left.
  void discard();

 private:
  /// The record that this process has to repeat; none when it has none left, or has to wait.
  std::optional<log::Record> predecessors_record();

  bool is_open_ = false;
  log::LogKey key_;
  log::LogOptions log_options_;
  log::LogWriter writer_;
  log::Reservation reservation_;
  KeptPayloads kept_;
  std::function<bool()> may_publish_;
  /// In a replacement, until it may publish new records.
  std::optional<log::LogReader> predecessor_;
  std::vector<std::byte> again_;  // what would have been published
};

}  // namespace llamada::mpi::coll
