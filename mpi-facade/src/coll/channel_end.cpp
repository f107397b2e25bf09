#include <fmt/core.h>

#include <utility>

#include "coll/channel.hpp"

// What becomes of a channel's log and cursors when a replay is over, its communicator is freed, or a member
// has ended.

namespace llamada::mpi::coll {

void Channel::change_communicator(std::uint32_t context) {
  present_context_ = context;
  for (Peer& other : peers_) other.left_over.reset();
  fitting_.change_communicator(ordinal_);
}

Status Channel::take_over(std::function<bool()> may_contribute) {
  for (Peer& other : peers_) {
    // The new writer is to find its readers.
    other.bounds_writer = false;
    other.cursors_scan = {};
  }
  if (auto taken = own_log_.take_over(world_.arena(), std::move(may_contribute)); !taken) return taken;
  for (int member = 0; member < size(); ++member)
    if (member != self()) peer(member).log.reader().take_over_cursor();
  if (is_on_one_node()) return {};
  own_log_.publish_to(world_, key_, members_.world_ranks());
  for (int member = 0; member < size(); ++member) {
    if (is_local(member) || peer(member).is_gone) continue;
    if (auto taken = peer(member).log.take_over(world_, key_, members_.world_rank(member)); !taken)
      return taken;
  }
  return {};
}

std::string Channel::left_over() {
  const auto record = own_log_.left_over();
  if (!record) return {};
  return fmt::format("its contribution to MPI_{}, collective {} on the communicator with context {},",
                     to_string(static_cast<Kind>(record->kind)), ordinal_of(*record), context());
}

void Channel::retire() {
  for (int member = 0; member < size(); ++member) {
    if (member == self() || peer(member).is_gone) continue;
    if (peer(member).is_copy) {
      // A replacement of this rank reads it again, and is to know how much of it there was.
      if (keeps_all_) continue;
      peer(member).log = {};
      world_.link()->stop_reading(members_.world_rank(member), key_);
      continue;
    }
    auto cursor = world_.arena().cursor(key_, members_.world_rank(member));
    if (!cursor) continue;
    (*cursor)->consumed.store(log::retired_cursor, std::memory_order_release);
    world_.wake(members_.world_rank(member));
  }
}

void Channel::look_at_losses(const Losses& losses) {
  if (losses.is_revoked(present_context_))
    return fitting_.fail_for(ordinal_, Errc::revoked, "a process has revoked it");
  for (int member = 0; member < size(); ++member) {
    if (member == self() || !losses.is_lost(members_.world_rank(member))) continue;
    return fitting_.fail_for(ordinal_, Errc::peer_lost,
                             fmt::format("rank {} of the communicator has died", member));
  }
}

void Channel::discard() {
  if (!own_log_.is_open()) return;
  if (ProgressHook* const link = world_.link()) {
    link->withdraw(key_);
    for (int member = 0; member < size(); ++member)
      if (peer(member).is_copy) link->stop_reading(members_.world_rank(member), key_);
  }
  own_log_.discard();
}

void Channel::part(int world_rank) {
  for (int member = 0; member < size(); ++member) {
    if (members_.world_rank(member) != world_rank || peer(member).is_gone) continue;
    // Its log and its cursor are gone.
    const bool was_copy = peer(member).is_copy;
    peer(member) = {};
    peer(member).is_gone = true;
    if (was_copy) {
      world_.link()->stop_reading(world_rank, key_);
      continue;
    }
    std::uint32_t scanned = 0;
    if (const auto* cursor =
            log::find_cursor(arena_.reading(), key_, static_cast<std::uint32_t>(world_rank), scanned))
      arena_.remove_cursor(const_cast<log::CursorEntry*>(cursor));
  }
}

/// Whether a member may still read the log of this one.
bool Channel::needs_our_log(int member) {
  if (member == self() || peer(member).is_gone || world_.is_lost(members_.world_rank(member))) return false;
  if (peer(member).is_copy) return world_.link()->is_read_by(members_.world_rank(member), key_);
  const auto arena = world_.cursors_of(members_.world_rank(member));
  log::DirectoryScan scan;
  const auto* cursor = arena.ready() ? log::find_cursor(arena, key_, world_.rank(), scan) : nullptr;
  const bool is_retired = cursor && cursor->consumed.load(std::memory_order_acquire) == log::retired_cursor;
  return !is_retired || world_.is_replaying(members_.world_rank(member));
}

bool Channel::has_log(int member) {
  // Its copy went when this member retired.
  if (peer(member).is_copy || world_.is_lost(members_.world_rank(member))) return false;
  log::DirectoryScan scan;
  const World::Source source = world_.source(members_.world_rank(member), key_);
  return log::find_log(source.arena, source.key, scan).has_value();
}

bool Channel::give_back() {
  if (size() == 1) return true;
  if (!is_given_back_) {
    for (int member = 0; member < size(); ++member)
      if (needs_our_log(member)) return false;
    own_log_.discard();
    if (ProgressHook* const link = world_.link()) link->withdraw(key_);
    is_given_back_ = true;
  }
  // All others have retired, too, so each has had its log: when that is gone, nobody looks at our cursor.
  bool is_all = true;
  for (int member = 0; member < size(); ++member) {
    Peer& other = peer(member);
    if (member == self() || other.is_gone) continue;
    if (has_log(member)) {
      is_all = false;
      continue;
    }
    other.is_gone = true;
    if (peer(member).is_copy) continue;
    if (auto cursor = arena_.cursor(key_, static_cast<std::uint32_t>(members_.world_rank(member))))
      arena_.remove_cursor(*cursor);
  }
  return is_all;
}

}  // namespace llamada::mpi::coll
