#include <algorithm>

#include "llamada/llamanet/application.hpp"
#include "socket.hpp"

// Whose arenas an application has mapped, where it does not want those of all.

namespace llamada::llamanet {

Status Application::map_first_peers(const ApplicationOptions& options) {
  bool changed = false;
  if (options.peer_count == any_slot) {
    auto refreshed = refresh();
    return refreshed ? Status() : Status(propagate(refreshed));
  }
  const std::uint32_t end = std::min(slot_count(), options.first_peer + options.peer_count);
  for (std::uint32_t first = options.first_peer; first < end; first += peers_count_max)
    if (auto mapped = map_peers(first, std::min(peers_count_max, end - first), changed); !mapped)
      return mapped;
  return {};
}

Status Application::meet(std::uint32_t slot) {
  bool changed = false;
  if (slot >= slot_count() || peers_[slot].mapping) return {};
  return map_peers(slot, 1, changed);
}

Status Application::part(std::uint32_t slot) {
  if (slot == slot_ || slot >= peers_.size() || !peers_[slot].mapping) return {};
  const std::uint32_t arena = peers_[slot].arena;
  peers_[slot] = {};
  return send_datagram(driver_.get(), encode({++request_, Part{slot, arena}}));
}

}  // namespace llamada::llamanet
