#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "llamada/base/file_descriptor.hpp"
#include "llamada/base/result.hpp"
#include "llamada/llamanet/bell.hpp"
#include "llamada/llamanet/mapped_arena.hpp"
#include "llamada/llamanet/mapped_page.hpp"
#include "llamada/llamanet/protocol.hpp"

namespace llamada::llamanet {

class DriverConnection;

/// Who is there, as an application sees it: the driver's page, and of each slot the arena that is mapped and
/// the bell.
///
/// Threads: one at a time, the application's.
class Roster {
 public:
  /// `driver` is borrowed, and asked for arenas.
  Roster(DriverConnection& driver, MappedPage page, std::uint32_t own_slot);

  /// Stays mapped while the Roster lives, until it follows another driver's.
  const DriverPage& page() const { return *page_; }
  std::uint32_t own_slot() const { return own_slot_; }
  std::uint32_t slot_count() const { return page().slot_count.load(std::memory_order_acquire); }
  std::uint32_t slot_count_max() const { return static_cast<std::uint32_t>(peers_.size()); }
  const PageSlot& page_slot(std::uint32_t slot) const { return page_.slot(slot); }
  SlotState slot_state(std::uint32_t slot) const {
    return static_cast<SlotState>(page_slot(slot).state.load(std::memory_order_acquire));
  }
  std::uint32_t incarnation(std::uint32_t slot) const {
    return page_slot(slot).incarnation.load(std::memory_order_relaxed);
  }
  /// Whether the slot is one of this node's. Others have a state and an incarnation, and no arena here.
  bool is_local(std::uint32_t slot) const {
    return page_slot(slot).node.load(std::memory_order_relaxed) == page().node;
  }
  /// Pairs with the driver's release store: what the page says is at least this new.
  std::uint64_t generation() const { return page().generation.load(std::memory_order_acquire); }
  bool is_protected() const { return page().is_protected.load(std::memory_order_acquire) != 0; }
  /// Whether log_bytes_per_node leaves room for so much more that is kept. Looks at everybody's arena.
  bool may_keep(std::uint64_t more_bytes) const;

  /// The arena of a slot, read-only; nothing when the slot had none at the last refresh().
  log::PeerArena peer(std::uint32_t slot) const;
  /// Which arena that is: no two that the driver ever made share a number. 0: none.
  std::uint32_t peer_arena(std::uint32_t slot) const { return peers_[slot].arena; }
  const Doorbell& doorbell(std::uint32_t slot) const { return peers_[slot].bell; }

  /// Maps arenas that have come since, unmaps none, and closes the eventfds of applications that are done.
  /// True when an arena has come or gone. Errors: closed (the driver is gone).
  Result<bool> refresh();
  /// Maps the arenas of slots [first, first + count), as far as there are so many. Errors: closed.
  Status map(std::uint32_t first, std::uint32_t count);
  /// Maps the arena of this slot, if it has one and none is mapped. Errors: closed.
  Status meet(std::uint32_t slot);
  /// Unmaps the arena of this slot, in which no reader may stand any more, and tells the driver, which gives
  /// the slot to nobody before. Nothing if none is mapped. Errors: closed.
  Status part(std::uint32_t slot);
  /// Maps the arena of the driver itself, if it has one and none is mapped. In a rank that may be replaced
  /// each incarnation must do so at the same place of its course, since that decides the addresses of later
  /// mappings: ApplicationOptions::follows_driver does. Errors: closed.
  Status meet_driver();
  /// That arena; nothing before meet_driver(), and once another driver is followed.
  log::PeerArena driver() const { return of_driver_.memory.reading(); }
  const Doorbell& driver_doorbell() const { return of_driver_.bell; }
  /// Unmaps the arenas that refresh() has replaced or found gone, and those of drivers that have ended. No
  /// reader may stand in them any more.
  void release_replaced() { replaced_.clear(); }

  // For an application whose driver is replaced by another one: roster_rejoin.cpp.

  /// Who is attached, or kept a place, as the next driver is to know it.
  std::vector<RosterLine> lines() const;
  /// From now on this is the roster of another driver, with as many slots. What is known of each peer moves
  /// to where the new page has its arena: the new slot of each old one; empty: all have theirs.
  std::vector<std::uint32_t> follow(MappedPage page, std::uint32_t own_slot);

 private:
  // One slot as this application sees it.
  struct PeerSlot {
    MappedArena memory;
    Doorbell bell;
    std::uint32_t arena = 0;
  };

  Status map_range(std::uint32_t first, std::uint32_t count, bool& changed);
  Result<PeerSlot> map_arena(std::uint32_t slot, std::uint32_t number, FileDescriptor arena,
                             FileDescriptor event) const;
  void replace_peer(std::uint32_t slot, PeerSlot by);
  std::uint64_t live_bytes_of_all() const;
  std::vector<std::uint32_t> find_moves() const;

  DriverConnection& driver_;
  MappedPage page_;
  std::uint32_t own_slot_;
  std::vector<PeerSlot> peers_;  // slot_count_max of them: moved by follow() only
  PeerSlot of_driver_;
  std::vector<PeerSlot> replaced_;
  std::uint64_t seen_generation_ = 0;
};

}  // namespace llamada::llamanet
