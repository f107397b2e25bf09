#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "llamada/base/result.hpp"
#include "llamada/log/arena_writer.hpp"

namespace llamada::topics {

/// What a Participant needs of whatever connects applications: an arena to write, the others' arenas to read,
/// the roster of who is there, and waiting. Discovery, matching and the samples themselves are all in the
/// arenas, so one implementation differs from another only in where these lie. llamaNET implements it between
/// processes, Loopback in one; tests/conformance/transport_conformance.hpp is what all must pass.
///
/// An application has a slot; peers are numbered by their slots, the own one included.
///
/// Threads: one at a time, the caller serialises; except wait(), which one thread may call while another uses
/// the rest, and wake() of the own slot, which any may call.
class Transport {
 public:
  struct Peer {
    log::PeerArena arena;
    /// Which arena that is: no two that ever were in this domain share a number. 0: the slot has none.
    std::uint32_t id = 0;
    /// False: its application has died, and only what it kept for late joiners is still there.
    bool alive = true;
  };

  virtual ~Transport() = default;

  virtual log::ArenaWriter& arena() = 0;
  virtual std::uint32_t slot() const = 0;
  /// Slots are below it. May grow in poll().
  virtual std::uint32_t slot_count() const = 0;
  /// As poll() found it last.
  virtual Peer peer(std::uint32_t slot) const = 0;

  /// Takes over changes of the roster: peer() says who is there. True when something changed. Arenas that are
  /// gone or replaced stay mapped until release_replaced(). Errors: closed (the domain is gone for good).
  virtual Result<bool> poll() = 0;
  virtual void release_replaced() = 0;
  /// Differs from what it was before poll() when there may be something new since. One load.
  virtual std::uint64_t roster_changes() const = 0;

  /// After each commit, and each cursor stored, that the application of `slot` may be waiting for.
  virtual void wake(std::uint32_t slot) = 0;
  virtual void wake_all() = 0;

  /// Sleeps until somebody wakes this application or the roster changes, but no longer than `at_most` (and it
  /// may return sooner). `look_again` is called once a waker can see that this application sleeps: true means
  /// no sleep. Errors: closed.
  virtual Status wait(const std::function<bool()>& look_again, std::chrono::nanoseconds at_most) = 0;

  /// Whoever looks often and never waits calls this now and then: it looks whether the roster is still kept,
  /// which only wait() does else, and makes roster_changes() differ if not. One system call.
  virtual void check() {}
};

}  // namespace llamada::topics
