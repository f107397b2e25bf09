#include "driver_histories.hpp"

#include <algorithm>

#include "llamada/llamanet/mapped_arena.hpp"

namespace llamada::llamanet {

bool has_lasting_writer(const log::PeerArena& arena) {
  if (!arena.ready()) return false;
  for (std::uint32_t i = 0; i < arena.endpoint_count(); ++i) {
    const auto& endpoint = arena.endpoint(i);
    if (endpoint.kind == static_cast<std::uint32_t>(log::EndpointKind::writer) && endpoint.durability > 0 &&
        endpoint.alive.load(std::memory_order_acquire) != 0)
      return true;
  }
  return false;
}

bool DriverHistories::has_lasting_writer(std::uint32_t slot) const {
  const auto arena = MappedArena::map(roster_[slot].arena.get(), roster_.arena_size_bytes());
  return arena && llamanet::has_lasting_writer(arena->reading());
}

void DriverHistories::on_death(std::uint32_t slot) {
  if (has_lasting_writer(slot)) kept_.push_back(slot);
  drop();
}

void DriverHistories::drop() {
  if (roster_.attached_count() == 0) kept_.clear();
  if (kept_.size() > kept_max) kept_.erase(kept_.begin(), kept_.end() - kept_max);
  for (std::uint32_t slot = 0; slot < roster_.count(); ++slot)
    if (roster_.state(slot) == SlotState::dead && std::ranges::find(kept_, slot) == kept_.end())
      roster_.free(slot);
}

}  // namespace llamada::llamanet
