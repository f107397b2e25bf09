// What a driver takes over from the applications of a driver that has ended:
// docs/internals/driver-protocol.md, "A driver that replaces another one".
#include "driver_slots.hpp"

namespace llamada::llamanet {

std::optional<std::uint32_t> DriverSlots::find_arena(std::uint32_t serial) const {
  for (std::uint32_t index = 0; index < count(); ++index)
    if (entry(index).arena.load(std::memory_order_relaxed) == serial) return index;
  return std::nullopt;
}

void DriverSlots::continue_serials(std::uint32_t serial) {
  if (has_arenas_) return;
  arena_serial_ = serial;
  page_ref().arena_last.store(serial, std::memory_order_relaxed);
}

/// The wanted one, or the first that is free.
Result<std::uint32_t> DriverSlots::free_slot(std::uint32_t wanted) {
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

Result<std::uint32_t> DriverSlots::reserve(const RosterLine& line, FileDescriptor process) {
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

Result<std::uint32_t> DriverSlots::adopt(const Rejoin& brought, FileDescriptor arena, FileDescriptor event) {
  auto header = Mapping::map(arena.get(), sizeof(log::ArenaHeader), Mapping::Access::read_only);
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

}  // namespace llamada::llamanet
