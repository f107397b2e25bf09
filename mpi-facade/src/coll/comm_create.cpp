#include "coll/comm_create.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "coll/agreement.hpp"
#include "coll/collectives.hpp"
#include "coll/intercommunicator.hpp"
#include "coll/survivors.hpp"
#include "runtime/runtime.hpp"
#include "world/world.hpp"

// A new communicator's context id follows from what the members of the parent propose (coll/context_ids.hpp):
// agreed by an exchange over the parent, which replays like any other collective. So is the channel that it
// goes on with, if there is a spare one (coll/spare_channels.hpp). The disjoint groups of a split share one
// id, which does no harm: no two ranks are together in two of them.

namespace llamada::mpi {
namespace {

struct Proposal {
  std::int32_t color = 0;
  std::int32_t key = 0;
  std::uint32_t persistents = 0;  ///< collectives that it has made
  coll::ContextProposal context;
  std::uint32_t unused = 0;
  coll::ChannelOffer::Names channels{};
};

/// What all members of the parent propose, by rank.
Result<std::vector<Proposal>> exchange(Communicator& parent, const coll::ContextClaim& claim,
                                       const coll::ChannelOffer& offer, int color, int key) {
  return gather_from_all(parent, Proposal{color, key, runtime().collectives->persistent_count(),
                                          claim.proposal(), 0, offer.names()});
}

/// The communicator that some members of the parent make: those whose ranks there are `ranks`, in this order.
Communicator* add(Communicator& parent, std::uint32_t context, Reference<Group> group,
                  coll::ChannelOffer& offer, const std::vector<Proposal>& proposals,
                  std::span<const int> ranks) {
  std::vector<coll::ChannelOffer::Names> offers;
  for (const int rank : ranks) offers.push_back(proposals[static_cast<std::size_t>(rank)].channels);
  auto channel = offer.take(group->members(), offers, context);
  Communicator* made = runtime().add_communicator(parent, context, std::move(group));
  made->collectives = std::move(channel);
  for (const Proposal& proposal : proposals)
    made->persistents_before = std::max(made->persistents_before, proposal.persistents);
  pass_on_if_revoked(*made);
  return made;
}

}  // namespace

Reference<Group> group_of(std::vector<int> world_ranks) {
  return make_counted<Group>(std::move(world_ranks), runtime().world_rank);
}

Result<Communicator*> duplicate(Communicator& parent) {
  if (parent.is_inter()) return duplicate_inter(parent);
  if (runtime().world->profile().rank_replacement.kind == qos::RankReplacementKind::shrink) {
    const int size = parent.size();
    auto copy = shrink(parent);
    if (copy && (*copy)->size() == size) (*copy)->copy_topology(parent);
    return copy;
  }
  coll::ContextClaim claim(runtime().collectives->context_ids());
  coll::ChannelOffer offer(runtime().collectives->spare_channels(), parent.group()->members());
  auto proposals = exchange(parent, claim, offer, 0, 0);
  if (!proposals) return propagate(proposals);
  auto context = claim.settle(coll::proposed_together(*proposals));
  if (!context) return propagate(context);
  std::vector<int> ranks(static_cast<std::size_t>(parent.size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  Communicator* copy = add(parent, *context, parent.group(), offer, *proposals, ranks);
  copy->copy_topology(parent);
  return copy;
}

Result<Communicator*> split(Communicator& parent, int color, int key) {
  if (parent.is_inter()) return split_inter(parent, color, key);
  coll::ContextClaim claim(runtime().collectives->context_ids());
  coll::ChannelOffer offer(runtime().collectives->spare_channels(), {});
  auto proposals = exchange(parent, claim, offer, color, key);
  if (!proposals) return propagate(proposals);
  auto context = claim.settle(coll::proposed_together(*proposals));
  if (!context) return propagate(context);
  if (color == MPI_UNDEFINED) return nullptr;
  std::vector<int> ranks;
  for (int rank = 0; rank < parent.size(); ++rank)
    if ((*proposals)[rank].color == color) ranks.push_back(rank);
  // Equal keys keep the order of the parent (6.4.2).
  std::stable_sort(ranks.begin(), ranks.end(),
                   [&](int a, int b) { return (*proposals)[a].key < (*proposals)[b].key; });
  std::vector<int> members;
  for (const int rank : ranks) members.push_back(parent.world_rank(rank));
  return add(parent, *context, group_of(std::move(members)), offer, *proposals, ranks);
}

Result<Communicator*> create(Communicator& parent, const Group& group) {
  if (parent.is_inter()) return create_inter(parent, group);
  coll::ContextClaim claim(runtime().collectives->context_ids());
  auto members = group.members();
  coll::ChannelOffer offer(runtime().collectives->spare_channels(), members);
  auto proposals = exchange(parent, claim, offer, 0, 0);
  if (!proposals) return propagate(proposals);
  auto context = claim.settle(coll::proposed_together(*proposals));
  if (!context) return propagate(context);
  if (group.rank() == MPI_UNDEFINED) return nullptr;
  std::vector<int> ranks;
  for (const int member : members) ranks.push_back(parent.rank_of(member));
  return add(parent, *context, group_of({members.begin(), members.end()}), offer, *proposals, ranks);
}

}  // namespace llamada::mpi
