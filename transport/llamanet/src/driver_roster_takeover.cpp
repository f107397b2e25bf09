// What a driver takes over from the applications of a driver that has ended:
// docs/internals/driver-protocol.md, "A driver that replaces another one".
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "driver_roster.hpp"
#include "process.hpp"

namespace llamada::llamanet {

std::optional<std::uint32_t> DriverRoster::find_arena(std::uint32_t serial) const {
  for (std::uint32_t index = 0; index < count(); ++index)
    if (entry(index).arena.load(std::memory_order_relaxed) == serial) return index;
  return std::nullopt;
}

/// Serial numbers go on behind `serial`, where this driver has given out none.
void DriverRoster::continue_serials(std::uint32_t serial) {
  if (has_arenas_) return;
  arena_serial_ = serial;
  page_ref().arena_last.store(serial, std::memory_order_relaxed);
}

/// The wanted one, or the first that is free.
Result<std::uint32_t> DriverRoster::free_slot(std::uint32_t wanted) {
  const auto is_free = [this](std::uint32_t index) {
    return index >= count() || (state(index) == SlotState::free && !slots_[index].arena);
  };
  std::uint32_t index = wanted;
  if (wanted >= count_max() || !is_free(wanted))
    for (index = 0; index < count() && !is_free(index);) ++index;
  if (index == count_max())
    return failure(Errc::out_of_resources, "the driver has {} applications already, which is its limit",
                   index);
  if (index >= count()) page_ref().slot_count.store(index + 1, std::memory_order_release);
  slots_[index] = DriverSlot{};
  own_entry(index).incarnation.store(1, std::memory_order_relaxed);
  own_entry(index).deaths.store(0, std::memory_order_relaxed);
  return index;
}

/// Keeps a place for an application of the predecessor that has not come yet, so that those who know its
/// arena go on with it: the predecessor's slot, or another one. Errors: out_of_resources.
Result<std::uint32_t> DriverRoster::reserve(const RosterLine& line, FileDescriptor process) {
  auto index = free_slot(line.slot);
  if (!index) return index;
  has_arenas_ = true;
  slots_[*index].process = std::move(process);
  own_entry(*index).pid.store(line.pid, std::memory_order_relaxed);
  own_entry(*index).process_start.store(line.process_start, std::memory_order_relaxed);
  own_entry(*index).arena.store(line.arena, std::memory_order_relaxed);
  set_state(*index, SlotState::expected);
  publish();
  return index;
}

Result<std::uint32_t> DriverRoster::adopt(const Rejoin& brought, FileDescriptor arena, FileDescriptor event) {
  auto header = MappedArena::map(arena.get(), sizeof(log::ArenaHeader));
  if (!header) return propagate(header);
  auto known = find_arena(brought.arena);
  if (known && !is_reserved(*known))
    return failure(Errc::already_exists, "another application of this driver has an arena of number {}",
                   brought.arena);
  auto index = known ? Result<std::uint32_t>(*known) : free_slot(brought.slot);
  if (!index) return index;
  has_arenas_ = true;
  DriverSlot& slot = slots_[*index];
  slot.arena = std::move(arena);
  slot.header = std::move(*header);
  slot.event = std::move(event);
  own_entry(*index).arena.store(brought.arena, std::memory_order_relaxed);
  return index;
}

// The roster of the driver that ended last counts: an application may come that was stopped while several
// drivers ended, and knows a roster that is no longer true.
Status DriverRoster::take_over(const Rejoin& rejoin, const std::function<Status(int, std::uint32_t)>& watch) {
  if (rejoin.driver_start_ns <= roster_of_ns_) return {};
  continue_serials(rejoin.arena_last);
  const auto is_listed = [&](std::uint32_t arena) {
    return std::any_of(rejoin.roster.begin(), rejoin.roster.end(),
                       [arena](const RosterLine& line) { return line.arena == arena; });
  };
  for (std::uint32_t slot = 0; slot < count(); ++slot)
    if (is_reserved(slot) && !is_listed(entry(slot).arena.load(std::memory_order_relaxed))) free(slot);
  roster_of_ns_ = rejoin.driver_start_ns;
  for (const RosterLine& line : rejoin.roster) {
    if (line.arena == 0 || find_arena(line.arena)) continue;
    FileDescriptor process(static_cast<int>(::syscall(SYS_pidfd_open, line.pid, 0)));
    const bool is_same = process && !has_ended(process.get()) &&
                         (line.process_start == 0 || start_of_process(line.pid) == line.process_start);
    if (!is_same) continue;  // it has ended: those who know its arena see that it is gone
    const int watched = process.get();
    auto slot = reserve(line, std::move(process));
    if (!slot) return propagate(slot);
    if (auto status = watch(watched, *slot); !status) return status;
  }
  return {};
}

}  // namespace llamada::llamanet
