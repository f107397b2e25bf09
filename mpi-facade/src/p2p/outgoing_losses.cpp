#include <algorithm>
#include <utility>

#include "p2p/losses.hpp"
#include "p2p/outgoing.hpp"

// What becomes of sends whose receiver has died, or whose communicator is revoked. Where that may happen
// every message goes whole into the log, so a send waits for nothing but room, or for its match if it is
// synchronous.

namespace llamada::mpi {

/// The sends to there for which `ends(request)` holds are over, and have this error.
template <typename Ends>
void Outgoing::fail_sends(Destination& to, int error, Ends ends) {
  std::vector<Request*> failed;
  Request* queued = std::exchange(to.first, nullptr);
  to.last = nullptr;
  while (queued) {
    Request* const request = std::exchange(queued, queued->next_queued);
    request->next_queued = nullptr;
    if (ends(*request))
      failed.push_back(request);
    else
      to.last = (to.first ? to.last->next_queued : to.first) = request;
  }
  std::erase_if(to.unacknowledged, [&](Request* request) {
    if (!ends(*request)) return false;
    if (std::exchange(request->is_written, false)) --to.written_unmatched;
    failed.push_back(request);
    return true;
  });
  for (Request* request : failed) {
    request->error = error;
    owner_.send_complete(*request);
  }
}

void Outgoing::lose(int rank) {
  if (static_cast<std::size_t>(rank) >= destinations_.size()) grow(rank + 1);
  Destination& to = *destinations_[static_cast<std::size_t>(rank)];
  to.is_lost = true;
  to.controls.clear();
  std::erase(busy_, &to);
  to.busy = false;
  if (last_sent_to_ == &to) last_sent_to_ = nullptr;
  to.kept = KeptPayloads(false);
  if (std::exchange(to.open, false)) {
    to.log.discard();
    if (ProgressHook* const link = world_.is_local(rank) ? nullptr : world_.link())
      link->withdraw(message_log_key(rank, world_.checkpoint()));
  }
  fail_sends(to, MPIX_ERR_PROC_FAILED, [](const Request&) { return true; });
}

void Outgoing::end_sends(std::uint32_t context) {
  for (auto& to : destinations_)
    fail_sends(*to, MPIX_ERR_REVOKED,
               [context](const Request& request) { return (request.context & ~own_messages) == context; });
}

void Outgoing::tell_revoked(int rank, std::uint32_t context) {
  if (rank == world_.rank()) return;
  control(destination(rank), kind_revoked, make_label(context, 0), std::uint64_t{0});
}

}  // namespace llamada::mpi
