#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint_directory.hpp"
#include "job_input.hpp"
#include "job_past.hpp"
#include "llamada/launcher/job_control.hpp"
#include "llamada/launcher/report.hpp"
#include "llamada/store/store.hpp"

namespace llamada::launcher {

/// What a job takes along when it has left a node and all of its ranks start again.
struct JobRestart {
  control::Start job;
  std::unique_ptr<store::Store> store;
  JobPast past;
  JobInput input;
  CheckpointDirectory checkpoints;  ///< nobody else may remove it meanwhile
  Report report;
  std::uint64_t user_signals = 0;                 ///< those that were seen, a bit each
  std::chrono::steady_clock::time_point lost_at;  ///< when the ranks were stopped
};

/// The nodes of the job that are on a host; several where ranks of another node were packed onto it. Pure.
std::vector<std::uint32_t> nodes_on_host(const control::Start& job, std::string_view name);
/// The hosts that the job has, "a, b and the spare c". Pure.
std::string hosts_text(const control::Start& job);

/// Puts other hosts in the places of nodes that are lost or drained: spares as long as there are some, then
/// the host with the most free slots. No host gets more ranks than its max_slots. `llamanetd` is this
/// host's. Errors: not_found, no host is left; nothing has changed then. Pure.
Status replace_nodes(control::Start& job, const std::vector<std::uint32_t>& left,
                     const std::string& llamanetd);

/// The ranks of a node are to go on on this host.
struct NodeMove {
  std::uint32_t node = 0;
  std::string host;
};
/// Does so, if the host is one of the job or a spare. A host that has no ranks then is a spare. Errors:
/// not_found (no such host), out_of_resources (its max_slots); nothing has changed then. Pure.
Status move_node(control::Start& job, const NodeMove& move, const std::string& llamanetd);

/// replace_nodes(), and then the moves that are still possible. Errors: as replace_nodes(). Pure.
Status plan_restart(control::Start& job, const std::vector<std::uint32_t>& left,
                    const std::vector<NodeMove>& moves, const std::string& llamanetd);

}  // namespace llamada::launcher
