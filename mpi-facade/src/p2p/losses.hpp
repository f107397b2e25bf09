#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "llamada/mpi/message_record.hpp"
#include "object/communicator.hpp"
#include "world/world.hpp"

namespace llamada::mpi {

struct Request;

/// Messages of the library's own have the program's context with this bit: no receive of the program takes
/// them.
inline constexpr std::uint32_t own_messages = 0x80000000u;

/// The ranks that have died while the others go on (rank_replacement BLANK, SHRINK), as far as this rank
/// knows, and the communicators that somebody has revoked. It decides which waits are in vain.
///
/// Threads: the engine's.
class Losses {
 public:
  /// `world` is borrowed.
  explicit Losses(World& world) : world_(world), is_on_(world.survivors_go_on()) {}

  /// Whether the job goes on without ranks that die. Otherwise nothing is ever lost or revoked.
  bool is_on() const { return is_on_; }
  /// Whether look() may find something. One load.
  bool has_news() const { return is_on_ && (awaits_last_ || world_.roster_changes() != seen_changes_); }
  /// Whether a rank is lost whose last messages are still on their way: it is not known to be lost yet.
  bool awaits_last() const { return awaits_last_; }
  /// The ranks that are lost and were not known to be. All that they had sent is here.
  std::vector<int> look();
  /// Whether anything can be in vain at all.
  bool any() const { return !in_order_.empty() || !revoked_.empty(); }

  bool is_lost(int world_rank) const {
    const auto index = static_cast<std::size_t>(world_rank);
    return index < is_lost_.size() && is_lost_[index];
  }
  /// The ranks that are lost, in the order in which this rank has heard of it: Communicator::acknowledged
  /// counts them.
  std::span<const int> in_order() const { return in_order_; }
  /// Those of them that are peers of this communicator, of the first `count`.
  std::vector<int> among_peers(const Communicator& communicator, std::size_t count) const;
  /// Whether a peer is lost that the program has not acknowledged (MPIX_Comm_failure_ack).
  bool has_unacknowledged(const Communicator& communicator) const;
  /// The first member, of either group, that is lost; -1: there is none.
  int first_lost(const Communicator& communicator) const;

  /// False when it was revoked before.
  bool revoke(std::uint32_t context) { return revoked_.insert(agreed_context(context)).second; }
  bool is_revoked(std::uint32_t context) const {
    return !revoked_.empty() && revoked_.contains(agreed_context(context));
  }

  /// Why this receive, which is posted, ends without a message: an error class, or MPI_SUCCESS if it does
  /// not. MPIX_ERR_PROC_FAILED_PENDING: it stays, but its caller is to be told.
  int why_in_vain(const Request& receive) const;
  /// The same for a probe.
  int why_in_vain(const Communicator& communicator, int world_source) const;

 private:
  /// The one that its members have agreed on: an intercommunicator has the next one, too, for its groups.
  static std::uint32_t agreed_context(std::uint32_t context) {
    const std::uint32_t plain = context & ~own_messages;
    return plain <= context_of_self ? plain : plain & ~std::uint32_t{1};
  }

  World& world_;
  bool is_on_;
  bool awaits_last_ = false;
  std::uint64_t seen_changes_ = ~std::uint64_t{0};
  std::vector<bool> is_lost_;
  std::vector<int> in_order_;
  std::set<std::uint32_t> revoked_;  // contexts
};

}  // namespace llamada::mpi
