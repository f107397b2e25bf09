#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace llamada::mpi::coll {

/// The members of a communicator as one of them sees it. Those of an intercommunicator are the members of
/// both groups: first the group whose first rank in MPI_COMM_WORLD is lower. Peers are those whom a member
/// gives to and takes from: all members, or those of the other group.
class Members {
 public:
  /// `peer_count` -1: all members are peers.
  Members(std::vector<int> world_ranks, int self, int first_peer = 0, int peer_count = -1)
      : world_ranks_(std::move(world_ranks)),
        self_(self),
        peer_begin_(first_peer),
        peer_end_(peer_count < 0 ? static_cast<int>(world_ranks_.size()) : first_peer + peer_count) {}

  int size() const { return static_cast<int>(world_ranks_.size()); }
  /// By rank in the communicator.
  const std::vector<int>& world_ranks() const { return world_ranks_; }
  int world_rank(int member) const { return world_ranks_[static_cast<std::size_t>(member)]; }
  /// This process among them.
  int self() const { return self_; }

  int peer_begin() const { return peer_begin_; }
  int peer_end() const { return peer_end_; }
  int peer_count() const { return peer_end_ - peer_begin_; }
  bool is_peer(int member) const { return member >= peer_begin_ && member < peer_end_; }
  /// Whether this member is one of its peers.
  bool is_intra() const { return is_peer(self_); }
  /// This member's rank in its group: its place among the peers of its peers.
  int rank() const { return is_intra() || peer_begin_ > 0 ? self_ : self_ - peer_end_; }

 private:
  std::vector<int> world_ranks_;
  int self_;
  int peer_begin_;
  int peer_end_;
};

}  // namespace llamada::mpi::coll
