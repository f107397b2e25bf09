#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "covered_bytes.hpp"
#include "feed.hpp"
#include "llamada/log/log_writer.hpp"
#include "llamada/replication/log_name.hpp"
#include "llamada/replication/submessages.hpp"

namespace llamada::replication {

enum class KeptCopyOutcome : std::uint8_t {
  applied,
  no_room,  ///< the arena's memory is used up: the same is to be applied again later
  not_now,  ///< pieces of the record before it are still to come: the same
  wrong     ///< no holder of this log can have sent it, if it had sent what comes before
};

/// The copy of one log that this process keeps in its arena: what comes is applied by its number, each record
/// once and in order, from however many holders. The pieces of a record come in any order once it has begun;
/// a record that one holder has begun may be completed by another.
class KeptCopy {
 public:
  /// `window_bytes`: how far the copy may be ahead of its readers, by record_cost().
  KeptCopy(log::ArenaWriter& arena, const LogName& name, log::LogWriter copy, std::uint64_t window_bytes);
  // The log of an open reservation stays in place.
  KeptCopy(const KeptCopy&) = delete;
  KeptCopy& operator=(const KeptCopy&) = delete;

  LogName name() const { return name_; }
  log::LogWriter& log() { return copy_; }
  /// Gives back the copy's memory. Afterwards only the destructor may be called.
  void discard() {
    open_.drop();
    copy_.discard();
  }
  /// Begins to take records from this holder, behind those that are there. The message to it.
  Follow follow(Feed& feed);

  using Outcome = KeptCopyOutcome;
  Outcome apply(RecordsReader records);
  /// What holder it comes from does not matter, nor what FOLLOW it was sent to. `applied`, too, for a piece
  /// of a record that has not begun.
  Outcome apply(const PieceBody& piece);
  /// Whether pieces of a record are to come.
  bool is_open() const { return static_cast<bool>(open_); }

  /// Whether credit() is worth asking: the holder may soon have to wait.
  bool is_short_of_credit(const Feed& feed) const { return feed.credit < received_ + window_bytes_ / 2; }
  /// What the holder is to hear of what this copy's readers have read since; nothing if that is little.
  std::optional<Credit> credit(Feed& feed);
  /// Whether a holder is sending a record in pieces, may send another one, or will soon hear that it may.
  bool is_growing() { return open_ || credit_now() > received_; }

 private:
  Outcome apply(std::uint64_t number, const WireRecord& record);
  Outcome begin(const WireRecord& record);
  Status publish(std::uint64_t number, const WireRecord& record);
  void note_chunk(std::uint64_t received_before);
  std::uint64_t credit_now();

  log::ArenaWriter& arena_;
  LogName name_;
  std::uint64_t window_bytes_;
  log::LogWriter copy_;
  log::Reservation open_;  // of a record whose pieces come; after copy_, whose room it gives back
  WireRecord begun_;       // without its payload and extra
  CoveredBytes filled_;
  // Costs since this copy was opened here.
  std::uint64_t received_ = 0;
  std::uint64_t credit_ = 0;  // the highest that any holder was told
  struct Begin {
    std::uint64_t ordinal;
    std::uint64_t received;
  };
  static constexpr std::size_t begins_max = 256;
  std::deque<Begin> begins_;  // of the chunks that are there
};

}  // namespace llamada::replication
