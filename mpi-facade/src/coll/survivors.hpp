#pragma once

#include <cstdint>
#include <optional>

#include "coll/context_ids.hpp"
#include "llamada/base/agreement_table.hpp"
#include "llamada/base/result.hpp"
#include "object/communicator.hpp"

// What the members of a communicator decide together although some of them may die meanwhile
// (MPIX_Comm_agree, MPIX_Comm_shrink): the job's coordinator decides, in one round.
// docs/decisions/0043-survivors-go-on.md says why.

namespace llamada::mpi {

/// One agreement, as this member takes part in it. It does not wait.
class Agreement {
 public:
  /// Members make agreements of a communicator in one order, with the same kinds of proposals.
  Agreement(Communicator& communicator, std::uint32_t flags, const coll::ContextProposal& context = {});

  /// Votes, or asks again where there may be an answer. True when it is decided, or has failed.
  bool step();
  /// Once step() has given true. Errors: those of World::agree().
  Result<AgreementDecision> decision() const;

 private:
  void ask();
  bool knows_all_lost() const;

  AgreementVote vote_;
  std::uint64_t seen_changes_ = 0;
  bool has_voted_ = false;
  std::optional<AgreementDecision> decision_;
  std::optional<Error> failure_;
};

/// A communicator of those that live, as its members make it. It does not wait.
class Shrinking {
 public:
  explicit Shrinking(Communicator& parent);
  bool step() { return agreement_.step(); }
  /// Once step() has given true; once. Errors: those of the agreement, out_of_resources (context ids).
  Result<Communicator*> make();

 private:
  Reference<Communicator> parent_;
  coll::ContextClaim claim_;
  Agreement agreement_;
};

/// Waits for the decision. Errors: those of World::agree().
Result<AgreementDecision> agree(Communicator& communicator, std::uint32_t flags);
/// The same for a communicator of those that live.
Result<Communicator*> shrink(Communicator& parent);

/// Whoever hears that a context is revoked tells all members of its communicators, so that all hear of it
/// even if whoever has revoked it dies: for Engine::on_revoked().
void pass_on_revocation(std::uint32_t context);
/// The same for a communicator that was revoked before this process had made it.
void pass_on_if_revoked(const Communicator& made);

}  // namespace llamada::mpi
