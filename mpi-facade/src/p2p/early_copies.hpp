#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "llamada/log/log_reader.hpp"
#include "p2p/request.hpp"

namespace llamada::mpi {

/// What a receiver does with a large message while its sender is copying it into its log, so that two cores
/// are at work: it takes what is there of it out of the log.
///
/// Nothing follows from that copy. The message is received once its record is committed, as any other is; the
/// sender, which may use its memory again from then on, waits for nobody. What had been copied before the
/// commit was seen need not be copied out of the log again; the rest, or all of it when the sender has died
/// and its replacement has sent the message, is.
///
/// Threads: the engine's.
class EarlyCopies {
 public:
  /// Copies what it can of the record that `reader`, of the log from rank `from`, has announced, and that
  /// `request` is to receive. False when that was nothing, for now or for good.
  bool copy(int from, const log::LogReader& reader, const log::Record& record, Request& request);
  /// The record, at which `reader` stands, is committed: so many of its bytes are in the buffer already.
  std::size_t take(int from, const log::LogReader& reader, const log::Record& record, const Request& request);
  /// A message from there was received in another way.
  void forget(int from) {
    if (static_cast<std::size_t>(from) < copies_.size()) copies_[static_cast<std::size_t>(from)] = {};
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
    std::size_t bytes = 0;
  };

  std::vector<Copy> copies_;  // by sender
};

}  // namespace llamada::mpi
