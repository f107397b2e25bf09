#include "coll/intercommunicator.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "coll/agreement.hpp"
#include "coll/collectives.hpp"
#include "coll/comm_create.hpp"
#include "coll/messages.hpp"
#include "p2p/engine.hpp"
#include "runtime/runtime.hpp"

namespace llamada::mpi {
namespace {

/// What each process of both groups says for a new communicator.
struct SideProposal {
  coll::ContextProposal context;
  std::int32_t color = 0;
  std::int32_t key = 0;
};
using SideProposals = std::vector<SideProposal>;

struct BothSides {
  SideProposals local;
  SideProposals remote;

  /// The context that follows, the same on all sides.
  Result<std::uint32_t> settle(coll::ContextClaim& claim) const {
    return claim.settle(coll::proposed_together(local).with(coll::proposed_together(remote)));
  }
};

coll::ContextIds& context_ids() { return runtime().collectives->context_ids(); }

/// Collective over both groups of an intercommunicator.
Result<BothSides> exchange(Communicator& inter, const coll::ContextProposal& context, int color, int key) {
  auto local = gather_from_all(inter.local(), SideProposal{context, color, key});
  if (!local) return propagate(local);
  BothSides both{std::move(*local), SideProposals(static_cast<std::size_t>(inter.remote_group()->size()))};
  Status status;
  if (inter.rank() == 0)
    status = Messages(inter).exchange(std::span<const SideProposal>(both.local),
                                      std::span<SideProposal>(both.remote), 0, 0);
  if (status) status = broadcast(inter.local(), std::span<SideProposal>(both.remote), 0);
  if (!status) return propagate(status);
  return both;
}

/// The ranks in MPI_COMM_WORLD of those of a colour, by key and then by rank.
std::vector<int> of_color(const SideProposals& proposals, const Group& group, int color) {
  std::vector<int> ranks;
  for (int rank = 0; rank < group.size(); ++rank)
    if (proposals[static_cast<std::size_t>(rank)].color == color) ranks.push_back(rank);
  std::stable_sort(ranks.begin(), ranks.end(), [&](int a, int b) {
    return proposals[static_cast<std::size_t>(a)].key < proposals[static_cast<std::size_t>(b)].key;
  });
  for (int& rank : ranks) rank = group.world_rank(rank);
  return ranks;
}

/// The leader's part of learning the other group.
Result<std::vector<int>> learn_group(Messages& messages, const Communicator& local, const InterBridge& bridge,
                                     coll::ContextProposal& context) {
  struct Header {
    coll::ContextProposal context;
    std::int32_t size;
  };
  const Header own{context, local.size()};
  Header theirs{};
  auto status =
      messages.exchange(std::span(&own, 1), std::span(&theirs, 1), bridge.remote_leader, bridge.tag);
  if (!status) return propagate(status);
  context = context.with(theirs.context);
  std::vector<int> ranks(static_cast<std::size_t>(theirs.size));
  status = messages.exchange(local.group()->members(), std::span(ranks), bridge.remote_leader, bridge.tag);
  if (!status) return propagate(status);
  return ranks;
}

/// Whether processes of other worlds are in it.
bool joins_worlds(const Communicator& inter) {
  const Runtime& self = runtime();
  const auto is_of_other = [&](int slot) {
    return slot < self.world_first || slot >= self.world_first + self.world_size;
  };
  return std::ranges::any_of(inter.group()->members(), is_of_other) ||
         std::ranges::any_of(inter.remote_group()->members(), is_of_other);
}

/// A process may end, and all that it had in memory go, as soon as it is no longer connected: until then
/// everybody must have met it.
Status wait_until_all_have_met(Communicator& local, const InterBridge& bridge) {
  char word = 0, theirs = 0;
  if (auto gathered = gather_from_all(local, word); !gathered) return propagate(gathered);
  if (local.rank() == bridge.local_leader) {
    auto told = Messages(*bridge.peer)
                    .exchange(std::span<const char>(&word, 1), std::span(&theirs, 1), bridge.remote_leader,
                              bridge.tag);
    if (!told) return told;
  }
  return broadcast(local, std::span(&theirs, 1), bridge.local_leader);
}

}  // namespace

Communicator* add_intercommunicator(const Communicator& parent, std::uint32_t context, Reference<Group> group,
                                    Reference<Group> remote) {
  auto local = make_counted<Communicator>(context + 1, group, parent.error_handler());
  Communicator* made = runtime().add_communicator(parent, context, std::move(group));
  if (runtime().engine) runtime().engine->meet(remote->members());
  made->set_remote(std::move(remote), std::move(local));
  return made;
}

Result<Communicator*> create_intercommunicator(Communicator& local, const InterBridge& bridge) {
  coll::ContextClaim claim(context_ids());
  auto proposals = gather_from_all(local, SideProposal{claim.proposal(), 0, 0});
  if (!proposals) return propagate(proposals);
  struct {
    coll::ContextProposal context;
    std::int32_t size;
  } header{coll::proposed_together(*proposals), 0};
  std::vector<int> remote;
  if (local.rank() == bridge.local_leader) {
    Messages messages(*bridge.peer);
    auto learnt = learn_group(messages, local, bridge, header.context);
    if (!learnt) return propagate(learnt);
    remote = std::move(*learnt);
    header.size = static_cast<std::int32_t>(remote.size());
  }
  Status status = broadcast(local, std::span(&header, 1), bridge.local_leader);
  if (!status) return propagate(status);
  remote.resize(static_cast<std::size_t>(header.size));
  status = broadcast(local, std::span(remote), bridge.local_leader);
  if (!status) return propagate(status);
  auto context = claim.settle(header.context);
  if (!context) return propagate(context);
  for (int rank : remote)
    if (local.rank_of(rank) != MPI_UNDEFINED)
      return failure(Errc::invalid_argument, "rank {} of MPI_COMM_WORLD is in both groups", rank);
  Communicator* const made =
      add_intercommunicator(local, *context, local.group(), group_of(std::move(remote)));
  if (!joins_worlds(*made)) return made;
  if (auto met = wait_until_all_have_met(local, bridge); !met) return propagate(met);
  return made;
}

Result<Communicator*> merge(Communicator& inter, bool high) {
  coll::ContextClaim claim(context_ids());
  auto both = exchange(inter, claim.proposal(), high, 0);
  if (!both) return propagate(both);
  auto context = both->settle(claim);
  if (!context) return propagate(context);
  const Group &own = *inter.group(), &other = *inter.remote_group();
  const bool own_high = both->local.front().color != 0, other_high = both->remote.front().color != 0;
  const bool own_first = own_high != other_high ? other_high : own.world_rank(0) < other.world_rank(0);
  const auto first = own_first ? own.members() : other.members();
  const auto second = own_first ? other.members() : own.members();
  std::vector<int> ranks(first.begin(), first.end());
  ranks.insert(ranks.end(), second.begin(), second.end());
  return runtime().add_communicator(inter, *context, group_of(std::move(ranks)));
}

Result<Communicator*> duplicate_inter(Communicator& parent) {
  coll::ContextClaim claim(context_ids());
  auto both = exchange(parent, claim.proposal(), 0, 0);
  if (!both) return propagate(both);
  auto context = both->settle(claim);
  if (!context) return propagate(context);
  return add_intercommunicator(parent, *context, parent.group(), parent.remote_group());
}

Result<Communicator*> split_inter(Communicator& parent, int color, int key) {
  coll::ContextClaim claim(context_ids());
  auto both = exchange(parent, claim.proposal(), color, key);
  if (!both) return propagate(both);
  auto context = both->settle(claim);
  if (!context) return propagate(context);
  if (color == MPI_UNDEFINED) return nullptr;
  std::vector<int> local = of_color(both->local, *parent.group(), color);
  std::vector<int> remote = of_color(both->remote, *parent.remote_group(), color);
  if (remote.empty()) return nullptr;
  return add_intercommunicator(parent, *context, group_of(std::move(local)), group_of(std::move(remote)));
}

Result<Communicator*> create_inter(Communicator& parent, const Group& group) {
  // As a split in which the members of the group are of one colour, in the group's order.
  const bool member = group.rank() != MPI_UNDEFINED;
  return split_inter(parent, member ? 0 : MPI_UNDEFINED, member ? group.rank() : 0);
}

Result<Communicator*> create_from_group(Communicator& parent, const Group& group, int tag) {
  if (group.rank() == MPI_UNDEFINED) return nullptr;
  Messages messages(parent);
  coll::ContextClaim claim(context_ids());
  coll::ContextProposal all = claim.proposal();
  const auto rank_of = [&](int member) { return parent.rank_of(group.world_rank(member)); };
  // The first member hears all, and tells all.
  Status status;
  if (group.rank() == 0) {
    for (int member = 1; member < group.size() && status; ++member) {
      coll::ContextProposal theirs;
      status = messages.receive(std::span(&theirs, 1), rank_of(member), tag);
      all = all.with(theirs);
    }
    for (int member = 1; member < group.size() && status; ++member)
      messages.send(std::span<const coll::ContextProposal>(&all, 1), rank_of(member), tag);
  } else {
    messages.send(std::span<const coll::ContextProposal>(&all, 1), rank_of(0), tag);
    status = messages.receive(std::span(&all, 1), rank_of(0), tag);
  }
  if (!status) return propagate(status);
  auto context = claim.settle(all);
  if (!context) return propagate(context);
  const auto members = group.members();
  return runtime().add_communicator(parent, *context, group_of({members.begin(), members.end()}));
}

}  // namespace llamada::mpi
