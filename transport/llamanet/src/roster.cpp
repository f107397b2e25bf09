#include "llamada/llamanet/roster.hpp"

#include <algorithm>

#include "arena_memory.hpp"
#include "driver_connection.hpp"

namespace llamada::llamanet {

Roster::Roster(DriverConnection& driver, MappedPage page, std::uint32_t own_slot)
    : driver_(driver), page_(std::move(page)), own_slot_(own_slot), peers_(page_->slot_count_max) {}

log::PeerArena Roster::peer(std::uint32_t slot) const {
  return slot < peers_.size() ? peers_[slot].memory.reading() : log::PeerArena{};
}

Result<bool> Roster::refresh() {
  const auto generation = this->generation();
  bool changed = false;
  if (generation == seen_generation_) return changed;
  const auto count = slot_count();
  for (std::uint32_t slot = 0; slot < count; ++slot) {
    const auto arena = page_slot(slot).arena.load(std::memory_order_acquire);
    if (slot_state(slot) == SlotState::done) {
      peers_[slot].bell.event.reset();  // nobody is left to wake
      if (arena == 0) continue;         // the driver has let go of it; what is mapped stays
    }
    if (arena == peers_[slot].arena) continue;
    if (arena == 0) {
      replace_peer(slot, {});
      changed = true;
      continue;
    }
    const auto asked = std::min(peers_count_max, count - slot);
    if (auto mapped = map_range(slot, asked, changed); !mapped) return propagate(mapped);
    slot += asked - 1;
  }
  seen_generation_ = generation;
  return changed;
}

Status Roster::map(std::uint32_t first, std::uint32_t count) {
  bool changed = false;
  const std::uint32_t end = std::min(slot_count(), first + count);
  for (; first < end; first += peers_count_max)
    if (auto mapped = map_range(first, std::min(peers_count_max, end - first), changed); !mapped)
      return mapped;
  return {};
}

Status Roster::meet(std::uint32_t slot) {
  bool changed = false;
  if (slot >= slot_count() || peers_[slot].memory || !is_local(slot)) return {};
  return map_range(slot, 1, changed);
}

Status Roster::part(std::uint32_t slot) {
  if (slot == own_slot_ || slot >= peers_.size() || !peers_[slot].memory) return {};
  const std::uint32_t arena = peers_[slot].arena;
  peers_[slot] = {};
  return driver_.tell(Part{slot, arena});
}

Status Roster::map_range(std::uint32_t first, std::uint32_t count, bool& changed) {
  std::vector<FileDescriptor> descriptors;
  auto answer = driver_.ask<PeersAre>(Peers{first, count}, descriptors, 2 * std::size_t{count});
  if (!answer) return propagate(answer);
  std::size_t present = 0;
  for (const auto& peer : answer->peers) present += peer.arena != 0 ? 1 : 0;
  if (answer->first != first || answer->peers.size() != count || descriptors.size() != 2 * present)
    return failure(Errc::parse_error, "the driver's answer about slots {} to {} is malformed", first,
                   first + count);
  std::size_t next = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto& peer = answer->peers[i];
    const bool is_new = peer.arena != peers_[first + i].arena;
    // The driver has the place of a peer that we know, and which has not brought its arena to it yet.
    if (peer.arena == 0 &&
        page_slot(first + i).arena.load(std::memory_order_acquire) == peers_[first + i].arena)
      continue;
    changed |= is_new;
    if (peer.arena == 0) {
      if (is_new) replace_peer(first + i, {});
      continue;
    }
    auto arena = std::move(descriptors[next++]);
    auto event = std::move(descriptors[next++]);
    if (!is_new) continue;
    auto mapped = map_arena(first + i, peer.arena, std::move(arena), std::move(event));
    if (!mapped) return propagate(mapped);
    replace_peer(first + i, std::move(*mapped));
  }
  return {};
}

Status Roster::meet_driver() {
  if (of_driver_.memory || page().has_arena.load(std::memory_order_acquire) == 0) return {};
  std::vector<FileDescriptor> descriptors;
  auto answer = driver_.ask<PeersAre>(Peers{driver_slot, 1}, descriptors, 2);
  if (!answer) return propagate(answer);
  if (answer->first != driver_slot || answer->peers.size() != 1 || descriptors.size() != 2)
    return failure(Errc::parse_error, "the driver's answer about its own arena is malformed");
  auto mapped =
      map_arena(driver_slot, answer->peers[0].arena, std::move(descriptors[0]), std::move(descriptors[1]));
  if (!mapped) return propagate(mapped);
  of_driver_ = std::move(*mapped);
  return {};
}

Result<Roster::PeerSlot> Roster::map_arena(std::uint32_t slot, std::uint32_t number, FileDescriptor arena,
                                           FileDescriptor event) const {
  auto memory = MappedArena::map(arena.get(), page().arena_size_bytes);
  if (!memory) return propagate(memory);
  if (memory->header() == nullptr)
    return failure(Errc::parse_error, "the arena of slot {} has only {} bytes", slot, memory->file_bytes());
  use_small_pages_at_first(memory->bytes());
  PeerSlot mapped;
  mapped.bell = {memory->header(), KeptDescriptor(std::move(event))};
  mapped.memory = std::move(*memory);
  mapped.arena = number;
  return mapped;
}

void Roster::replace_peer(std::uint32_t slot, PeerSlot by) {
  if (peers_[slot].memory) replaced_.push_back(std::move(peers_[slot]));
  peers_[slot] = std::move(by);
}

bool Roster::may_keep(std::uint64_t more_bytes) const {
  const auto limit = page().log_bytes_max.load(std::memory_order_relaxed);
  return limit == 0 || !is_protected() || live_bytes_of_all() + more_bytes <= limit;
}

std::uint64_t Roster::live_bytes_of_all() const {
  std::uint64_t all = 0;
  for (const auto& peer : peers_) {
    const auto* header = peer.memory.header();
    if (header == nullptr) continue;
    const std::uint64_t live = header->pool_live.load(std::memory_order_relaxed);
    // More than there is, a wild pointer has written there: nobody else is to run out of memory by that.
    if (live <= header->pool_used.load(std::memory_order_relaxed) && live <= peer.memory.bytes().size())
      all += live;
  }
  return all;
}

}  // namespace llamada::llamanet
