#include "spawn/spawn.hpp"

#include <algorithm>
#include <numeric>

#include "coll/agreement.hpp"
#include "coll/intercommunicator.hpp"
#include "p2p/engine.hpp"
#include "runtime/runtime.hpp"
#include "world/identity.hpp"

namespace llamada::mpi {
namespace {

/// Spawned rank 0 is the first slot of its world: it begins the bridge, once.
constexpr int spawn_tag = 0;

int process_count(const std::vector<SpawnCommand>& commands) {
  return std::accumulate(commands.begin(), commands.end(), 0, [](int sum, const SpawnCommand& command) {
    return sum + static_cast<int>(command.process_count);
  });
}

Verdict ask_driver(const SpawnOrder& order) {
  if (order.error_class != MPI_SUCCESS) return Verdict::refused(order.error_class, order.text);
  Verdict verdict;
  verdict.count = process_count(order.commands);
  auto ranks = runtime().world->spawn(order.commands);
  if (ranks) {
    verdict.first = ranks->first;
  } else {
    verdict.error_class = MPI_ERR_SPAWN;
    verdict.text = ranks.error().text();
  }
  return verdict;
}

}  // namespace

Result<Communicator*> spawn(Communicator& parents, int root, const std::function<SpawnOrder()>& order,
                            Verdict& verdict) {
  part_from_ended();
  // Before anything is started for parents of which one has died.
  if (runtime().world->survivors_go_on())
    if (auto met = meet(parents); !met) return propagate(met);
  const bool is_root = parents.rank() == root;
  if (is_root) verdict = ask_driver(order());
  const bool has_children = is_root && verdict.good();
  const int first = verdict.first;
  share(parents, verdict, root);
  InterBridge bridge{root, nullptr, 0, spawn_tag};
  Reference<Communicator> way;
  if (has_children) {
    way = make_bridge(first, runtime().world_rank);
    bridge.peer = way.get();
    // One of the parents has died meanwhile.
    if (!verdict.good()) refuse_bridge(bridge, failure(Errc::peer_lost, "{}", verdict.text));
  }
  if (!verdict.good()) return nullptr;
  return create_intercommunicator(parents, bridge);
}

Result<Communicator*> join_parents() {
  const World& world = *runtime().world;
  const auto spawned_by = identity_number(world.identity(), "spawned_by");
  if (!spawned_by) return nullptr;
  const int parent = static_cast<int>(*spawned_by);
  Communicator& local = *runtime().comm_world();
  InterBridge bridge{0, nullptr, 1, spawn_tag};
  Reference<Communicator> way;
  if (local.rank() == 0) {
    way = make_bridge(runtime().world_rank, parent);
    bridge.peer = way.get();
  }
  auto parents = create_intercommunicator(local, bridge);
  if (parents) (*parents)->set_name("MPI_COMM_PARENT");
  return parents;
}

void wait_for_connected() {
  Runtime& self = runtime();
  World& world = *self.world;
  std::vector<int> others;
  const auto add = [&](std::span<const int> members) {
    for (const int slot : members)
      if (slot < world.world_first() || slot >= world.world_first() + world.world_size())
        others.push_back(slot);
  };
  self.communicators.for_each([&](MPI_Comm, const Communicator& communicator) {
    add(communicator.group()->members());
    if (communicator.is_inter()) add(communicator.remote_group()->members());
  });
  // Those that this rank has met may wait for it, though it does not wait for them.
  if (!std::ranges::all_of(self.engine->strangers(), [&](int slot) { return world.is_local(slot); }))
    world.announce_end();
  if (others.empty()) return;
  world.wake_all();
  self.engine->wait_until([&] {
    std::erase_if(others, [&](int slot) {
      const log::ArenaState state = world.state_of(slot);
      return state == log::ArenaState::finalized || state == log::ArenaState::exiting;
    });
    return others.empty();
  });
}

}  // namespace llamada::mpi
