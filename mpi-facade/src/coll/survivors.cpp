#include "coll/survivors.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "coll/agreement.hpp"
#include "coll/collectives.hpp"
#include "coll/comm_create.hpp"
#include "p2p/engine.hpp"
#include "runtime/runtime.hpp"

namespace llamada::mpi {
namespace {

World& world() { return *runtime().world; }
Engine& engine() { return *runtime().engine; }

void add(std::vector<std::uint32_t>& slots, const Group& group) {
  for (const int slot : group.members()) slots.push_back(static_cast<std::uint32_t>(slot));
}

bool contains(const std::vector<std::uint32_t>& slots, int slot) {
  return std::find(slots.begin(), slots.end(), static_cast<std::uint32_t>(slot)) != slots.end();
}

/// Nobody dies for good under REBUILD, and what a replacement repeats must follow from messages.
bool agrees_by_messages() { return world().protection().keeps_messages; }

Result<AgreementDecision> agree_by_messages(Communicator& communicator, std::uint32_t flags) {
  if (communicator.is_inter())
    return failure(Errc::unsupported,
                   "agreements on intercommunicators need a profile with rank_replacement BLANK or SHRINK");
  auto all = gather_from_all(communicator, flags);
  if (!all) return propagate(all);
  AgreementDecision decision;
  decision.flags = flags;
  for (const std::uint32_t theirs : *all) decision.flags &= theirs;
  decision.all_knew = true;
  return decision;
}

void tell_members(const Communicator& communicator, std::uint32_t context) {
  const auto tell = [context](const Group& group) {
    for (const int rank : group.members()) engine().outgoing().tell_revoked(rank, context);
  };
  tell(*communicator.group());
  if (communicator.is_inter()) tell(*communicator.remote_group());
}

}  // namespace

Agreement::Agreement(Communicator& communicator, std::uint32_t flags, const coll::ContextProposal& context) {
  vote_.group = communicator.context();
  vote_.sequence = ++communicator.agreements;
  vote_.flags = flags;
  vote_.common = context.common;
  vote_.own = context.own;
  vote_.count = runtime().collectives->persistent_count();
  add(vote_.members, *communicator.group());
  if (communicator.is_inter()) add(vote_.members, *communicator.remote_group());
  // Both groups name the members in one order.
  std::sort(vote_.members.begin(), vote_.members.end());
  engine().look_at_losses();
  for (const int lost : engine().losses().in_order().first(communicator.acknowledged))
    if (contains(vote_.members, lost)) vote_.known_lost.push_back(static_cast<std::uint32_t>(lost));
}

bool Agreement::step() {
  if (!decision_ && !failure_) ask();
  if (failure_) return true;
  if (!decision_) return false;
  // Who is lost by the decision is known here, too, from now on.
  engine().look_at_losses();
  return knows_all_lost();
}

/// A rank of another node that is lost is known to be when all that it had sent has come.
bool Agreement::knows_all_lost() const {
  return std::ranges::none_of(decision_->lost, [](std::uint32_t member) {
    const int rank = static_cast<int>(member);
    return world().is_lost(rank) && !engine().losses().is_lost(rank);
  });
}

void Agreement::ask() {
  if (vote_.members.size() == 1) {
    decision_ = AgreementDecision{vote_.flags, vote_.common, vote_.own, vote_.count, {}, true};
    return;
  }
  const std::uint64_t changes = world().roster_changes();
  if (has_voted_ && changes == seen_changes_) return;
  // Whatever is decided after the answer changes the roster again.
  seen_changes_ = changes;
  has_voted_ = true;
  auto answer = world().agree(vote_);
  if (!answer)
    failure_ = answer.error();
  else
    decision_ = std::move(*answer);
}

Result<AgreementDecision> Agreement::decision() const {
  if (failure_) return tl::unexpected<Error>(*failure_);
  return *decision_;
}

Result<AgreementDecision> agree(Communicator& communicator, std::uint32_t flags) {
  if (agrees_by_messages()) return agree_by_messages(communicator, flags);
  Agreement agreement(communicator, flags);
  engine().wait_until([&agreement] { return agreement.step(); });
  return agreement.decision();
}

Shrinking::Shrinking(Communicator& parent)
    : parent_(&parent),
      claim_(runtime().collectives->context_ids()),
      agreement_(parent, 0, claim_.proposal()) {}

Result<Communicator*> Shrinking::make() {
  auto decision = agreement_.decision();
  if (!decision) return propagate(decision);
  auto context = claim_.settle({decision->common, decision->own});
  if (!context) return propagate(context);
  std::vector<int> living;
  for (const int member : parent_->group()->members())
    if (!contains(decision->lost, member)) living.push_back(member);
  Communicator* made = runtime().add_communicator(*parent_, *context, group_of(std::move(living)));
  made->persistents_before = decision->count;
  pass_on_if_revoked(*made);
  return made;
}

Result<Communicator*> shrink(Communicator& parent) {
  if (parent.is_inter())
    return failure(Errc::unsupported,
                   "intercommunicators cannot be shrunk here: shrink those of their groups");
  if (agrees_by_messages()) return split(parent, 0, parent.rank());
  Shrinking shrinking(parent);
  engine().wait_until([&shrinking] { return shrinking.step(); });
  return shrinking.make();
}

void pass_on_revocation(std::uint32_t context) {
  runtime().last_named = {};  // so that the next call with it looks closer
  runtime().for_each_communicator([context](const Communicator& communicator) {
    if (communicator.context() == context) tell_members(communicator, context);
  });
}

void pass_on_if_revoked(const Communicator& made) {
  if (engine().losses().is_revoked(made.context())) tell_members(made, made.context());
}

}  // namespace llamada::mpi
