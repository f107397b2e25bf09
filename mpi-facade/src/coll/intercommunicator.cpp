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

/// Why the leader of a group does not go on, as it tells the other leader and its own group: nobody waits for
/// it then. 0: it does.
using Refusal = std::int32_t;

template <typename T>
Refusal refusal_of(const Result<T>& result) {
  return result ? 0 : static_cast<Refusal>(result.error().code()) + 1;
}
template <typename T>
Status status_of(const Result<T>& result) {
  return result ? Status() : Status(tl::unexpected<Error>(result.error()));
}
Status status_of(Refusal refusal) {
  if (refusal == 0) return {};
  const auto code = static_cast<Errc>(refusal - 1);
  return failure(code, "{}",
                 code == Errc::peer_lost ? "a process of one of the groups has died"
                 : code == Errc::revoked ? "a process has revoked it"
                                         : "one of the groups could not take part");
}

/// What each process of both groups says for a new communicator.
struct SideProposal {
  coll::ContextProposal context;
  std::int32_t color = 0;
  std::int32_t key = 0;
  Refusal refusal = 0;  ///< of the leader, in the group's first one
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
  auto local = gather_from_all(inter.local(), SideProposal{context, color, key, 0});
  const bool leads = inter.rank() == 0;
  if (!local && !leads) return propagate(local);
  BothSides both{local ? std::move(*local) : SideProposals(static_cast<std::size_t>(inter.local().size())),
                 SideProposals(static_cast<std::size_t>(inter.remote_group()->size()))};
  if (leads) {
    both.local.front().refusal = refusal_of(local);
    const auto met = Messages(inter).exchange(std::span<const SideProposal>(both.local),
                                              std::span<SideProposal>(both.remote), 0, 0);
    if (!met) both.remote.front().refusal = refusal_of(met);
  }
  if (!local) return propagate(local);
  Status status = broadcast(inter.local(), std::span<SideProposal>(both.remote), 0);
  if (status) status = status_of(both.remote.front().refusal);
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

/// What leaders tell each other first.
struct LeaderProposal {
  coll::ContextProposal context;
  std::int32_t size = 0;  ///< of the group
  Refusal refusal = 0;
};

/// The leader's part of learning the other group: `proposal` is its own, and then that of both.
Result<std::vector<int>> learn_group(const Communicator& local, const InterBridge& bridge,
                                     LeaderProposal& proposal) {
  Messages messages(*bridge.peer);
  LeaderProposal theirs;
  auto status = messages.exchange(std::span<const LeaderProposal>(&proposal, 1), std::span(&theirs, 1),
                                  bridge.remote_leader, bridge.tag);
  if (status) status = status_of(theirs.refusal);
  if (!status) return propagate(status);
  proposal.context = proposal.context.with(theirs.context);
  proposal.size = theirs.size;
  std::vector<int> ranks(static_cast<std::size_t>(theirs.size));
  status = messages.exchange(local.group()->members(), std::span(ranks), bridge.remote_leader, bridge.tag);
  if (!status) return propagate(status);
  return ranks;
}

/// Whether processes of other worlds are in one of the groups.
bool joins_worlds(std::span<const int> members, std::span<const int> remote) {
  const Runtime& self = runtime();
  const auto is_of_other = [&](int slot) {
    return slot < self.world_first || slot >= self.world_first + self.world_size;
  };
  return std::ranges::any_of(members, is_of_other) || std::ranges::any_of(remote, is_of_other);
}

/// A process may end, and all that it had in memory go, as soon as it is no longer connected: until then
/// everybody must have met it. `made`: whether this process has. A leader that has not says so.
Status wait_until_all_have_met(Communicator& local, const InterBridge& bridge, const Status& made) {
  const bool leads = local.rank() == bridge.local_leader;
  if (!made && !leads) return made;
  Status all_here = made ? status_of(gather_from_all(local, char{})) : made;
  Refusal refusal = refusal_of(all_here), theirs = 0;
  if (leads) {
    auto told = Messages(*bridge.peer)
                    .exchange(std::span<const Refusal>(&refusal, 1), std::span(&theirs, 1),
                              bridge.remote_leader, bridge.tag);
    refusal = told ? theirs : refusal_of(told);
  }
  if (!all_here) return all_here;
  if (auto told = broadcast(local, std::span(&refusal, 1), bridge.local_leader); !told) return told;
  return status_of(refusal);
}

/// What the leader has learnt, for its group, and the communicator that follows from it.
Result<Communicator*> make_together(Communicator& local, int leader, LeaderProposal& agreed,
                                    std::vector<int>& remote, coll::ContextClaim& claim) {
  Status status = broadcast(local, std::span(&agreed, 1), leader);
  if (status) status = status_of(agreed.refusal);
  if (!status) return propagate(status);
  remote.resize(static_cast<std::size_t>(agreed.size));
  status = broadcast(local, std::span(remote), leader);
  if (!status) return propagate(status);
  auto context = claim.settle(agreed.context);
  if (!context) return propagate(context);
  for (const int rank : remote)
    if (local.rank_of(rank) != MPI_UNDEFINED)
      return failure(Errc::invalid_argument, "rank {} of MPI_COMM_WORLD is in both groups", rank);
  return add_intercommunicator(local, *context, local.group(), group_of(remote));
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
  auto proposals = gather_from_all(local, SideProposal{claim.proposal(), 0, 0, 0});
  const bool leads = local.rank() == bridge.local_leader;
  if (!proposals && leads) refuse_bridge(bridge, status_of(proposals));
  if (!proposals) return propagate(proposals);
  LeaderProposal agreed{coll::proposed_together(*proposals), local.size(), 0};
  std::vector<int> remote;
  if (leads) {
    auto learnt = learn_group(local, bridge, agreed);
    if (learnt)
      remote = std::move(*learnt);
    else
      agreed.refusal = refusal_of(learnt);
  }
  auto made = make_together(local, bridge.local_leader, agreed, remote, claim);
  if (remote.empty() || !joins_worlds(local.group()->members(), remote)) return made;
  auto met = wait_until_all_have_met(local, bridge, status_of(made));
  if (met) return made;
  if (made) runtime().communicators.erase((*made)->handle());
  return propagate(met);
}

void refuse_bridge(const InterBridge& bridge, const Status& why) {
  const LeaderProposal refused{{}, 0, refusal_of(why)};
  LeaderProposal theirs;
  // Whatever comes of it: the leader has its own error.
  static_cast<void>(Messages(*bridge.peer)
                        .exchange(std::span<const LeaderProposal>(&refused, 1), std::span(&theirs, 1),
                                  bridge.remote_leader, bridge.tag));
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
