#pragma once

#include <cstdint>

#include "llamada/replication/submessages.hpp"

namespace llamada::replication {

class KeptCopy;
struct Peer;

/// A holder from which a copy gets records, and how far that has come. Several may feed one copy: each sends
/// records in order, from the one that the last FOLLOW has named on.
struct Feed {
  enum class State : std::uint8_t {
    idle,        ///< nothing is taken from it
    follows,     ///< it is whom the copy follows
    waits,       ///< the copy is to follow it behind the end of a history
    catches_up,  ///< a history is on its way
    ended        ///< the history ended with record `end`; more of it may come
  };
  KeptCopy* copy = nullptr;
  Peer* holder = nullptr;
  LogNumber alias = 0;  ///< among Peer::kept of the holder: it stays this copy's
  State state = State::idle;
  std::uint64_t from = 1;      ///< what the last FOLLOW has named
  bool has_begun = false;      ///< its answer has come; what comes before was sent to an older one
  std::uint64_t received = 0;  ///< by the copy, when FOLLOW was sent: the holder's credit counts from there
  std::uint64_t credit = 0;    ///< what the holder was told, counted as KeptCopy does
  std::uint64_t end = 0;

  bool takes() const { return state != State::idle && state != State::waits; }
  /// Whether credit is of use to the holder.
  bool goes_on() const { return state == State::follows || state == State::catches_up; }
};

}  // namespace llamada::replication
