#include "comm_create.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "coll/collectives.hpp"
#include "coll/intercommunicator.hpp"
#include "coll/movement.hpp"
#include "llamada/base/crash_point.hpp"
#include "runtime.hpp"

// A new communicator's context id is the highest that any member of the parent proposes as its first free
// one: agreed by an exchange over the parent, which replays like any other collective. Ids are never used
// again. The disjoint groups of a split share one id, which does no harm: no two ranks are together in two of
// them.

namespace llamada::mpi {
namespace {

struct Proposal {
  std::int32_t color = 0;
  std::int32_t key = 0;
  std::uint32_t context = 0;
};

/// What all members of the parent propose, by rank.
Result<std::vector<Proposal>> exchange(Communicator& parent, int color, int key) {
  auto& collectives = *runtime().collectives;
  std::vector<Proposal> proposals(static_cast<std::size_t>(parent.size()));
  Proposal& own = proposals[static_cast<std::size_t>(parent.rank())];
  own = {color, key, collectives.next_context()};
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
std::uint32_t agree(const std::vector<Proposal>& proposals) {
  std::uint32_t context = 0;
  for (const Proposal& proposal : proposals) context = std::max(context, proposal.context);
  LLAMADA_CRASH_POINT("communicator:agreed");
  runtime().collectives->use_contexts_below(context + 1);
  return context;
}

Reference<Group> group_of(std::vector<int> world_ranks) {
  return make_counted<Group>(std::move(world_ranks), runtime().world_rank);
}

}  // namespace

Result<Communicator*> duplicate(Communicator& parent) {
  if (parent.is_inter()) return duplicate_inter(parent);
  auto proposals = exchange(parent, 0, 0);
  if (!proposals) return propagate(proposals);
  Communicator* copy = runtime().add_communicator(parent, agree(*proposals), parent.group());
  copy->copy_topology(parent);
  return copy;
}

Result<Communicator*> split(Communicator& parent, int color, int key) {
  if (parent.is_inter()) return split_inter(parent, color, key);
  auto proposals = exchange(parent, color, key);
  if (!proposals) return propagate(proposals);
  std::uint32_t context = agree(*proposals);
  if (color == MPI_UNDEFINED) return nullptr;
  std::vector<int> ranks;
  for (int rank = 0; rank < parent.size(); ++rank)
    if ((*proposals)[rank].color == color) ranks.push_back(rank);
  // Equal keys keep the order of the parent (6.4.2).
  std::stable_sort(ranks.begin(), ranks.end(),
                   [&](int a, int b) { return (*proposals)[a].key < (*proposals)[b].key; });
  for (int& rank : ranks) rank = parent.world_rank(rank);
  return runtime().add_communicator(parent, context, group_of(std::move(ranks)));
}

Result<Communicator*> create(Communicator& parent, const Group& group) {
  if (parent.is_inter()) return create_inter(parent, group);
  auto proposals = exchange(parent, 0, 0);
  if (!proposals) return propagate(proposals);
  std::uint32_t context = agree(*proposals);
  if (group.rank() == MPI_UNDEFINED) return nullptr;
  auto members = group.members();
  return runtime().add_communicator(parent, context, group_of({members.begin(), members.end()}));
}

}  // namespace llamada::mpi
