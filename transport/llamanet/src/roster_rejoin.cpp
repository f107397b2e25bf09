// How a roster goes on with another driver: docs/internals/driver-protocol.md, "A driver that replaces
// another one".
#include <utility>

#include "llamada/llamanet/roster.hpp"

namespace llamada::llamanet {
namespace {

constexpr std::uint32_t nowhere = 0xffffffff;

}  // namespace

std::vector<RosterLine> Roster::lines() const {
  std::vector<RosterLine> lines;
  for (std::uint32_t slot = 0; slot < slot_count(); ++slot) {
    const SlotState state = slot_state(slot);
    const PageSlot& entry = page_slot(slot);
    // `expected`: an application of a driver before that one, which has not come to it.
    if (state == SlotState::attached || state == SlotState::expected)
      lines.push_back({slot, entry.arena.load(std::memory_order_relaxed),
                       entry.pid.load(std::memory_order_relaxed),
                       entry.process_start.load(std::memory_order_relaxed)});
  }
  return lines;
}

std::vector<std::uint32_t> Roster::follow(MappedPage page, std::uint32_t own_slot) {
  page_ = std::move(page);
  own_slot_ = own_slot;
  seen_generation_ = UINT64_MAX;
  if (of_driver_.memory) replaced_.push_back(std::exchange(of_driver_, {}));
  const auto count = static_cast<std::uint32_t>(peers_.size());
  auto moves = find_moves();
  if (!moves.empty()) {
    std::vector<PeerSlot> moved(count);
    for (std::uint32_t old = 0; old < count; ++old) moved[moves[old]] = std::move(peers_[old]);
    peers_ = std::move(moved);
  }
  // refresh() looks no further than the new roster goes, which may be shorter.
  for (std::uint32_t slot = slot_count(); slot < count; ++slot)
    if (peers_[slot].arena != 0) replace_peer(slot, {});
  return moves;
}

std::vector<std::uint32_t> Roster::find_moves() const {
  const auto count = static_cast<std::uint32_t>(peers_.size());
  std::vector<std::uint32_t> moves(count, nowhere);
  std::vector<bool> taken(count, false);
  bool all_stay = true;
  for (std::uint32_t slot = 0; slot < slot_count(); ++slot) {
    const std::uint32_t arena = page_slot(slot).arena.load(std::memory_order_acquire);
    for (std::uint32_t old = 0; arena != 0 && old < count; ++old) {
      if (peers_[old].arena != arena) continue;
      moves[old] = slot;
      taken[slot] = true;
      all_stay = all_stay && old == slot;
      break;
    }
  }
  if (all_stay) return {};
  std::uint32_t next = 0;
  for (std::uint32_t old = 0; old < count; ++old) {
    if (moves[old] != nowhere) continue;
    while (taken[next]) ++next;
    moves[old] = taken[old] ? next : old;
    taken[moves[old]] = true;
  }
  return moves;
}

}  // namespace llamada::llamanet
