#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "llamada/base/result.hpp"
#include "llamada/mpi/message_record.hpp"

namespace llamada::mpi::coll {

/// What a process proposes for the context id of a new communicator, and what several propose together.
struct ContextProposal {
  std::uint32_t common = 0;  ///< the lowest id that it has not seen in use; 0: it is making another one, too
  std::uint32_t own = 0;     ///< an id that nobody else proposes, nor itself elsewhere; 0: there is none left

  /// Of two processes, or groups of them; in any order.
  ContextProposal with(const ContextProposal& other) const {
    const bool both = common != 0 && other.common != 0;
    return {both ? std::max(common, other.common) : 0, std::max(own, other.own)};
  }
};

/// Of those who say `proposals`, in each of which there is a `context`.
template <typename Proposal>
ContextProposal proposed_together(const std::vector<Proposal>& proposals) {
  ContextProposal all = proposals.front().context;
  for (const Proposal& proposal : proposals) all = all.with(proposal.context);
  return all;
}

/// The context ids that a process has seen. Ids are never used again; what is agreed on takes two of them,
/// for an intercommunicator has a second one for its local communicators.
///
/// All who make a communicator tell each other their proposals and take the highest common one. That is safe
/// as long as a process makes one communicator at a time: then what it proposes next is above what it agreed
/// on before. When a process is at several (threads, MPI_Comm_idup), only the first of them may propose a
/// common id; if anybody proposes none, the highest of the processes' own ids is taken, which are all
/// different.
///
/// Threads: the rank's MPI thread, or whoever holds the lock.
class ContextIds {
 public:
  static constexpr std::uint32_t world_context = context_of_world;
  static constexpr std::uint32_t self_context = context_of_self;
  static constexpr std::uint32_t first_free_context = 4;
  /// Ids from here on are processes' own: the slot in the job, and a number.
  static constexpr std::uint32_t first_own_context = 1u << 30;
  static constexpr std::uint32_t own_bits = 18;
  static constexpr std::uint32_t slots_max = 1u << 12;

  explicit ContextIds(int slot) : slot_(static_cast<std::uint32_t>(slot)) {}
  ContextIds(const ContextIds&) = delete;
  ContextIds& operator=(const ContextIds&) = delete;

  /// All that a process knows; nothing may be claimed.
  struct Seen {
    std::uint32_t next_common = first_free_context;
    std::uint32_t next_own = 0;
    std::vector<std::uint32_t> unused_own;
  };
  Seen seen() const { return {next_common_, next_own_, unused_own_}; }
  void restore(Seen seen) {
    next_common_ = seen.next_common;
    next_own_ = seen.next_own;
    unused_own_ = std::move(seen.unused_own);
  }

 private:
  friend class ContextClaim;

  std::uint32_t take_own();

  std::uint32_t slot_;
  std::uint32_t next_common_ = first_free_context;
  std::uint32_t next_own_ = 0;
  std::vector<std::uint32_t> unused_own_;
  bool claimed_ = false;
};

/// The making of one communicator, from a process's proposal until it is settled.
///
/// A replay makes the same proposals only if claims begin and end at the same places of the program: that of
/// a nonblocking call ends when the program is told that the call is complete, not when it becomes so.
class ContextClaim {
 public:
  explicit ContextClaim(ContextIds& ids);
  ~ContextClaim() { end(); }
  ContextClaim(const ContextClaim&) = delete;
  ContextClaim& operator=(const ContextClaim&) = delete;

  const ContextProposal& proposal() const { return proposal_; }
  /// The id that follows from what all propose; it and the next one are in use now. Errors: out_of_resources.
  Result<std::uint32_t> settle(const ContextProposal& all);
  /// The same; the claim goes on (until the program knows).
  Result<std::uint32_t> agree(const ContextProposal& all);
  void end();

 private:
  ContextIds& ids_;
  ContextProposal proposal_;
  bool holds_ = false;
  std::uint32_t agreed_ = 0;
};

}  // namespace llamada::mpi::coll
