#include "spawn/bridge.hpp"

#include <array>
#include <vector>

#include "coll/agreement.hpp"
#include "coll/collectives.hpp"
#include "p2p/engine.hpp"
#include "runtime/runtime.hpp"

namespace llamada::mpi {

Reference<Communicator> make_bridge(int initiator, int other) {
  Runtime& self = runtime();
  part_from_ended();
  const std::array<int, 2> ends{initiator, other};
  self.engine->meet(ends);
  return make_counted<Communicator>(
      bridge_contexts | static_cast<std::uint32_t>(initiator),
      make_counted<Group>(std::vector<int>(ends.begin(), ends.end()), self.world_rank),
      self.comm_world()->error_handler());
}

void part_from_ended() {
  Runtime& self = runtime();
  for (const int slot : self.engine->strangers()) {
    if (!self.world->has_ended(slot) || Group::is_named(slot) || !self.engine->part(slot)) continue;
    self.collectives->part(slot);
    self.world->part(slot);
  }
}

int next_bridge_tag() { return ++runtime().spawning.bridge_count; }

void share(Communicator& local, Verdict& verdict, int root) {
  std::array<int, 4> header{verdict.error_class, verdict.first, verdict.count,
                            static_cast<int>(verdict.text.size())};
  Status status = broadcast(local, std::span<int>(header), root);
  if (status) {
    verdict.error_class = header[0];
    verdict.first = header[1];
    verdict.count = header[2];
    verdict.text.resize(static_cast<std::size_t>(header[3]));
    status = broadcast(local, std::span(verdict.text.data(), verdict.text.size()), root);
  }
  if (!status) verdict = Verdict::refused(error_class_for(status.error().code()), status.error().text());
}

}  // namespace llamada::mpi
