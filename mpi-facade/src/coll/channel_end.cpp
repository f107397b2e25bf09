#include "coll/channel.hpp"

// What becomes of a channel's log and cursors when its communicator is freed, or a member has ended.

namespace llamada::mpi::coll {

void Channel::retire() {
  for (int member = 0; member < size(); ++member) {
    if (member == self_ || incoming_[member].is_gone) continue;
    auto cursor = world_.arena().cursor(key_, members_[member]);
    if (!cursor) continue;
    (*cursor)->consumed.store(log::retired_cursor, std::memory_order_release);
    world_.wake(members_[member]);
  }
}

void Channel::part(int world_rank) {
  for (int member = 0; member < size(); ++member) {
    if (members_[member] != world_rank || incoming_[member].is_gone) continue;
    // Its log and its cursor are gone.
    incoming_[member] = {};
    incoming_[member].is_gone = true;
    std::uint32_t scanned = 0;
    if (const auto* cursor =
            log::find_cursor(arena_.reading(), key_, static_cast<std::uint32_t>(world_rank), scanned))
      arena_.remove_cursor(const_cast<log::CursorEntry*>(cursor));
  }
}

/// Whether a member may still read the log of this one.
bool Channel::needs_our_log(int member) {
  if (member == self_ || incoming_[member].is_gone) return false;
  const auto peer = world_.peer(members_[member]);
  log::DirectoryScan scan;
  const auto* cursor = peer.ready() ? log::find_cursor(peer, key_, world_.rank(), scan) : nullptr;
  const bool is_retired = cursor && cursor->consumed.load(std::memory_order_acquire) == log::retired_cursor;
  return !is_retired || peer.header().replaying.load(std::memory_order_relaxed) != 0;
}

bool Channel::has_log(int member) {
  log::DirectoryScan scan;
  return log::find_log(world_.peer(members_[member]), key_, scan).has_value();
}

bool Channel::give_back() {
  if (size() == 1) return true;
  if (!is_given_back_) {
    for (int member = 0; member < size(); ++member)
      if (needs_our_log(member)) return false;
    reservation_.drop();
    writer_.discard();
    is_given_back_ = true;
  }
  // All others have retired, too, so each has had its log: when that is gone, nobody looks at our cursor.
  bool is_all = true;
  for (int member = 0; member < size(); ++member) {
    Incoming& other = incoming_[member];
    if (member == self_ || other.is_gone) continue;
    if (has_log(member)) {
      is_all = false;
      continue;
    }
    if (auto cursor = arena_.cursor(key_, static_cast<std::uint32_t>(members_[member])))
      arena_.remove_cursor(*cursor);
    other.is_gone = true;
  }
  return is_all;
}

}  // namespace llamada::mpi::coll
