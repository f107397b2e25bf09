#include "comm_create.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "coll/collectives.hpp"
#include "coll/intercommunicator.hpp"
#include "coll/movement.hpp"
#include "runtime.hpp"

// A new communicator's context id follows from what the members of the parent propose (coll/context_ids.hpp):
// agreed by an exchange over the parent, which replays like any other collective. The disjoint groups of a
// split share one id, which does no harm: no two ranks are together in two of them.

namespace llamada::mpi {
namespace {

struct Proposal {
  std::int32_t color = 0;
  std::int32_t key = 0;
  coll::ContextProposal context;
};

/// What all members of the parent propose, by rank.
Result<std::vector<Proposal>> exchange(Communicator& parent, const coll::ContextClaim& claim, int color,
                                       int key) {
  auto& collectives = *runtime().collectives;
  std::vector<Proposal> proposals(static_cast<std::size_t>(parent.size()));
  Proposal& own = proposals[static_cast<std::size_t>(parent.rank())];
  own = {color, key, claim.proposal()};
  if (parent.size() == 1) return proposals;
  auto channel = collectives.channel(parent);
  if (!channel) return propagate(channel);
  auto bytes_of = [](Proposal& proposal) { return coll::Data::of(std::as_bytes(std::span(&proposal, 1))); };
  std::vector<coll::Data> results;
  for (Proposal& proposal : proposals) results.push_back(bytes_of(proposal));
  auto gathered = coll::allgather(**channel, collectives.waiter(), bytes_of(own), results);
  if (!gathered) return propagate(gathered);
  return proposals;
}

/// The id that follows from the proposals, for all members of the parent alike.
Result<std::uint32_t> settle(coll::ContextClaim& claim, const std::vector<Proposal>& proposals) {
  coll::ContextProposal all = proposals.front().context;
  for (const Proposal& proposal : proposals) all = all.with(proposal.context);
  return claim.settle(all);
}

Reference<Group> group_of(std::vector<int> world_ranks) {
  return make_counted<Group>(std::move(world_ranks), runtime().world_rank);
}

}  // namespace

Result<Communicator*> duplicate(Communicator& parent) {
  if (parent.is_inter()) return duplicate_inter(parent);
  coll::ContextClaim claim(runtime().collectives->context_ids());
  auto proposals = exchange(parent, claim, 0, 0);
  if (!proposals) return propagate(proposals);
  auto context = settle(claim, *proposals);
  if (!context) return propagate(context);
  Communicator* copy = runtime().add_communicator(parent, *context, parent.group());
  copy->copy_topology(parent);
  return copy;
}

Result<Communicator*> split(Communicator& parent, int color, int key) {
  if (parent.is_inter()) return split_inter(parent, color, key);
  coll::ContextClaim claim(runtime().collectives->context_ids());
  auto proposals = exchange(parent, claim, color, key);
  if (!proposals) return propagate(proposals);
  auto context = settle(claim, *proposals);
  if (!context) return propagate(context);
  if (color == MPI_UNDEFINED) return nullptr;
  std::vector<int> ranks;
  for (int rank = 0; rank < parent.size(); ++rank)
    if ((*proposals)[rank].color == color) ranks.push_back(rank);
  // Equal keys keep the order of the parent (6.4.2).
  std::stable_sort(ranks.begin(), ranks.end(),
                   [&](int a, int b) { return (*proposals)[a].key < (*proposals)[b].key; });
  for (int& rank : ranks) rank = parent.world_rank(rank);
  return runtime().add_communicator(parent, *context, group_of(std::move(ranks)));
}

Result<Communicator*> create(Communicator& parent, const Group& group) {
  if (parent.is_inter()) return create_inter(parent, group);
  coll::ContextClaim claim(runtime().collectives->context_ids());
  auto proposals = exchange(parent, claim, 0, 0);
  if (!proposals) return propagate(proposals);
  auto context = settle(claim, *proposals);
  if (!context) return propagate(context);
  if (group.rank() == MPI_UNDEFINED) return nullptr;
  auto members = group.members();
  return runtime().add_communicator(parent, *context, group_of({members.begin(), members.end()}));
}

}  // namespace llamada::mpi
