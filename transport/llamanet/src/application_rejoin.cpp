// How an application goes on when its driver has ended: docs/internals/driver-protocol.md, "A driver that
// replaces another one".
#include <fcntl.h>
#include <unistd.h>

#include <array>

#include "arena_memory.hpp"
#include "ask.hpp"
#include "driver_search.hpp"
#include "llamada/llamanet/application.hpp"
#include "socket.hpp"

namespace llamada::llamanet {
namespace {

/// A driver that is stopped is not waited for without end: data flow without a driver.
constexpr std::chrono::seconds answer_within{5};
constexpr std::size_t attached_descriptors_count = 3;
constexpr std::uint32_t nowhere = 0xffffffff;

}  // namespace

Result<std::vector<std::uint32_t>> Application::rejoin(bool may_start_driver) {
  auto options = options_;
  options.start_driver = options.start_driver && may_start_driver;
  return join_driver(options, [this](const ApplicationOptions& at) { return rejoin_at(at.socket_name); });
}

Result<std::vector<std::uint32_t>> Application::rejoin_at(const std::string& socket_name) {
  auto driver = connect_to_own(socket_name);
  if (!driver) return propagate(driver);
  if (auto checked = check_owner(driver->get(), socket_name); !checked) return propagate(checked);
  if (auto limited = limit_waits(driver->get(), answer_within); !limited) return propagate(limited);
  const std::array<int, 2> brought{memory_->file(), event_.get()};
  std::vector<FileDescriptor> descriptors;
  auto attached = ask<Attached>(driver->get(), ++request_, roster_of_old_driver(), descriptors,
                                attached_descriptors_count, brought);
  if (!attached) return propagate(attached);
  if (auto unlimited = limit_waits(driver->get(), std::chrono::milliseconds(0)); !unlimited)
    return propagate(unlimited);
  if (descriptors.size() != attached_descriptors_count)
    return failure(Errc::parse_error, "the driver sent {} descriptors instead of {}", descriptors.size(),
                   attached_descriptors_count);
  auto size = size_of(descriptors[0].get());
  if (!size) return propagate(size);
  auto page = Mapping::map(descriptors[0].get(), *size, Mapping::Access::read_only);
  if (!page) return propagate(page);
  if (!is_page(page->data(), page->size(), sizeof(log::ArenaHeader)) ||
      reinterpret_cast<const DriverPage*>(page->data())->slot_count_max != peers_.size())
    return failure(Errc::unsupported, "the driver that has come is of another version of Llamada");
  // The number stays: another thread may be about to wait for it.
  const std::lock_guard lock(driver_mutex_);
  if (::dup3(driver->get(), driver_.get(), O_CLOEXEC) < 0) return system_failure("dup3");
  page_ = std::move(*page);
  slot_ = attached->slot;
  seen_generation_ = UINT64_MAX;
  driver_lost_.store(false, std::memory_order_relaxed);
  auto moves = follow_peers();
  // refresh() looks no further than the new roster goes, which may be shorter.
  for (std::uint32_t slot = slot_count(); slot < peers_.size(); ++slot)
    if (peers_[slot].arena != 0) replace_peer(slot, {});
  return moves;
}

Rejoin Application::roster_of_old_driver() const {
  Rejoin message;
  message.slot = slot_;
  message.arena = peer_arena(slot_);
  message.arena_size_bytes = page().arena_size_bytes;
  message.driver_start_ns = page().start_ns;
  message.arena_last = page().arena_last.load(std::memory_order_relaxed);
  message.name = options_.name;
  for (std::uint32_t slot = 0; slot < slot_count(); ++slot) {
    const SlotState state = slot_state(slot);
    const PageSlot& entry = page_slot(slot);
    // `expected`: an application of a driver before that one, which has not come to it.
    if (state == SlotState::attached || state == SlotState::expected)
      message.roster.push_back({slot, entry.arena.load(std::memory_order_relaxed),
                                entry.pid.load(std::memory_order_relaxed),
                                entry.process_start.load(std::memory_order_relaxed)});
  }
  return message;
}

/// Puts what is known of each peer where the new roster has its arena. The new slot of each old one; empty:
/// all have theirs.
std::vector<std::uint32_t> Application::follow_peers() {
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
  std::vector<PeerSlot> moved(count);
  for (std::uint32_t old = 0; old < count; ++old) moved[moves[old]] = std::move(peers_[old]);
  peers_ = std::move(moved);
  return moves;
}

}  // namespace llamada::llamanet
