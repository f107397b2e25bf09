#include "p2p/send_bounds.hpp"

#include "p2p/outgoing.hpp"

// What bounds the messages under way (SEND_WINDOW, RESOURCE_LIMITS).

namespace llamada::mpi {

/// A replacement may hear of messages first that it has yet to repeat.
std::uint64_t Outgoing::under_way(const Destination& to) {
  const std::uint64_t sent = to.ordinals.total();
  return sent > to.taken_in ? sent - to.taken_in : 0;
}

bool Outgoing::is_at_bound(const Destination& to) const {
  const SendBounds& bounds = options_.bounds;
  if (under_way(to) >= bounds.to_one_max) return true;
  if (bounds.to_all_max == SendBounds::none) return false;
  std::uint64_t to_all = 0;
  for (const auto& each : destinations_) to_all += under_way(*each);
  return to_all >= bounds.to_all_max;
}

/// In a replacement. A send that no predecessor has published may have waited at a bound while the program
/// went on: it waits until the replay is over.
bool Outgoing::may_publish_new() {
  return options_.bounds.any() ? owner_.may_tell_new() : owner_.may_send_new();
}

void Outgoing::taken_in(int from, std::uint64_t count) {
  Destination& to = destination(from);
  // From a replacement, which counts again from 1, comes less than before.
  to.taken_in = std::max(to.taken_in, count);
}

}  // namespace llamada::mpi
