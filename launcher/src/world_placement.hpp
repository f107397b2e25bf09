#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "llamada/base/result.hpp"
#include "llamada/launcher/job_arenas.hpp"
#include "llamada/launcher/job_control.hpp"

namespace llamada::launcher {

/// By what the place of a spawned world is decided.
struct WorldSurroundings {
  const control::Start& job;
  const std::vector<std::string>& hosts;      ///< of the nodes, as they call themselves
  std::vector<std::uint32_t> ranks_on_nodes;  ///< how many ranks each node has that have not ended
  std::vector<std::uint32_t> lost_nodes;      ///< nothing is placed there
};

/// The node of each rank of the world that a rank asks for. A command with the info key `host` goes to the
/// nodes that it lists ("b", "b:2,c"), any other one round all nodes. Free slots are used first, in mpirun's
/// order; behind these come more ranks than slots. Pure. Errors: not_found (a host is none of the job's, or
/// lost), invalid_argument (no list of hosts), out_of_resources (max-slots).
Result<std::vector<std::uint32_t>> place_world(const std::vector<SpawnCommand>& commands,
                                               WorldSurroundings surroundings);

}  // namespace llamada::launcher
