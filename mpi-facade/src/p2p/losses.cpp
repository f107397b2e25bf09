#include "p2p/losses.hpp"

#include <mpi.h>

#include <algorithm>

#include "p2p/record.hpp"
#include "p2p/request.hpp"

namespace llamada::mpi {

std::vector<int> Losses::look() {
  std::vector<int> news;
  if (!has_news()) return news;
  seen_changes_ = world_.roster_changes();
  awaits_last_ = false;
  is_lost_.resize(static_cast<std::size_t>(world_.size()));
  for (int rank = 0; rank < world_.size(); ++rank) {
    if (is_lost(rank) || !world_.is_lost(rank)) continue;
    if (!world_.has_come(rank, message_log_key(world_.rank(), world_.checkpoint()))) {
      awaits_last_ = true;
      continue;
    }
    is_lost_[static_cast<std::size_t>(rank)] = true;
    in_order_.push_back(rank);
    news.push_back(rank);
  }
  return news;
}

std::vector<int> Losses::among_peers(const Communicator& communicator, std::size_t count) const {
  std::vector<int> peers;
  for (const int rank : in_order().first(std::min(count, in_order_.size())))
    if (communicator.rank_of(rank) != MPI_UNDEFINED) peers.push_back(rank);
  return peers;
}

bool Losses::has_unacknowledged(const Communicator& communicator) const {
  for (std::size_t index = communicator.acknowledged; index < in_order_.size(); ++index)
    if (communicator.rank_of(in_order_[index]) != MPI_UNDEFINED) return true;
  return false;
}

int Losses::first_lost(const Communicator& communicator) const {
  for (const int rank : in_order_)
    if (communicator.rank_of(rank) != MPI_UNDEFINED || communicator.group()->rank_of(rank) != MPI_UNDEFINED)
      return rank;
  return -1;
}

int Losses::why_in_vain(const Request& receive) const {
  if (is_revoked(receive.context)) return MPIX_ERR_REVOKED;
  if (receive.source != any_source) return is_lost(receive.source) ? MPIX_ERR_PROC_FAILED : MPI_SUCCESS;
  if (!has_unacknowledged(*receive.communicator)) return MPI_SUCCESS;
  return receive.is_named ? MPIX_ERR_PROC_FAILED_PENDING : MPIX_ERR_PROC_FAILED;
}

int Losses::why_in_vain(const Communicator& communicator, int world_source) const {
  if (is_revoked(communicator.context())) return MPIX_ERR_REVOKED;
  const bool is_lacking =
      world_source == any_source ? has_unacknowledged(communicator) : is_lost(world_source);
  return is_lacking ? MPIX_ERR_PROC_FAILED : MPI_SUCCESS;
}

}  // namespace llamada::mpi
