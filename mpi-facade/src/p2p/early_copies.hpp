#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "llamada/log/log_reader.hpp"
#include "p2p/request.hpp"
#include "world/peer_memory.hpp"
#include "world/world.hpp"

namespace llamada::mpi {

/// Where a large message lies while its sender copies it into its log: the extra bytes of its record, which
/// is announced (LogWriter::announce()) meanwhile.
struct MessageSource {
  std::uint64_t address = 0;  ///< in the sender's process
  ProcessCard card;           ///< that process's; none: nobody is to look there
};
static_assert(sizeof(MessageSource) == log::extra_bytes_max);

/// What a receiver does with a large message that is kept, while its sender is copying it into its log, so
/// that two cores are at work: it takes what is there of it out of the log; and where nothing is, some of it
/// out of the sender's memory, if the system allows it (process_vm_readv) and the sender proposes it.
///
/// Nothing follows from that copy. The message is received once its record is committed, as any other is; the
/// sender, which may use its memory again from then on, waits for nobody. What had been copied before the
/// commit was seen need not be copied out of the log again; the rest, or all of it when the sender has died
/// and its replacement has sent the message, is.
///
/// Threads: the engine's.
class EarlyCopies {
 public:
  /// Smaller messages are in the log soon.
  static constexpr std::size_t bytes_min = 64 << 10;

  explicit EarlyCopies(World& world)
      : world_(world), is_log_made_at_start_(world.profile().rank_replacement.log_bytes_at_start > 0) {}

  /// For an announcement: where a message of this rank lies. Its memory is proposed to the receiver where the
  /// log's was made long ago: then both are slow to reach it, and from 256 KiB on the other way is faster.
  MessageSource source(std::span<const std::byte> message);

  /// Copies what it can of the record that `reader`, of the log from rank `from`, has announced, and that
  /// `request` is to receive. False when that was nothing, for now or for good.
  bool copy(int from, const log::LogReader& reader, const log::Record& record, Request& request);
  /// The record, at which `reader` stands, is committed: so many of its bytes are in the buffer already.
  std::size_t take(int from, const log::LogReader& reader, const log::Record& record, const Request& request);
  /// A message from there was received in another way.
  void forget(int from) {
    if (static_cast<std::size_t>(from) < senders_.size()) senders_[static_cast<std::size_t>(from)].copy = {};
  }
  /// The rank there has ended.
  void part(int from) {
    if (static_cast<std::size_t>(from) < senders_.size()) senders_[static_cast<std::size_t>(from)] = {};
  }
  /// Whether the receive's buffer has been written to: it can no longer be cancelled, and its message is
  /// sent (again, if its sender has died).
  bool has_begun(const Request& request) const;

 private:
  /// The copy that was begun last, of each sender.
  struct Copy {
    const Request* request = nullptr;
    log::LogPosition record;
    const std::byte* payload = nullptr;
    MessageSource source;
    std::size_t bytes = 0;
    bool reaches_source = false;
    bool is_of_log = true;  // all of it, not of the sender's memory
  };
  struct Sender {
    Copy copy;
    KnownReach reach;
  };

  static bool copy_piece_of_source(Copy& copy, const log::LogReader& reader, std::span<std::byte> to);

  World& world_;
  bool is_log_made_at_start_;
  std::vector<Sender> senders_;
};

}  // namespace llamada::mpi
