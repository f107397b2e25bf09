#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "llamada/base/file_descriptor.hpp"
#include "process/pmi_client.hpp"
#include "world/llamanet.hpp"

namespace llamada::mpi {

/// One rank of a job that a process manager has started (srun, mpiexec of MPICH), and what it does so that
/// the job has Llamada's processes, too (docs/decisions/0037-a-job-that-srun-has-started.md). The first rank
/// of each node starts its node's llamanetd; rank 0 starts an mpirun, which coordinates. What they must know
/// of each other goes by the process manager's key-value space.
///
/// Threads: any one.
class PmiJob {
 public:
  /// Whether PMI_FD and PMI_SIZE say that a process manager has started this process, with others.
  static bool is_there();
  /// Returns once all ranks may attach to their drivers: waits for all of them. When that is not possible
  /// `tell` is called, and the process manager is told to end all. Errors: those of PmiClient and of starting
  /// programs; closed: mpirun or llamanetd has ended, and has said why.
  static Result<std::unique_ptr<PmiJob>> join(const std::function<void(const Error&)>& tell);

  /// For attach_to_driver().
  const LaunchedRank& rank() const { return rank_; }

  /// Behind MPI_Finalize's last exchange. Whether all ranks are as far: the first call begins to wait, none
  /// waits longer than a millisecond. Errors: those of PmiClient.
  Result<bool> all_have_come();
  /// The rank has said bye to its driver. The first rank of a node waits for what it has started to end, but
  /// not for long: the process manager may kill what it finds once all ranks of a node have ended.
  void leave();

 private:
  explicit PmiJob(PmiClient client) : client_(std::move(client)) {}

  static Result<std::unique_ptr<PmiJob>> open();
  Status meet_all();
  Status read_nodes();
  Status introduce_itself();
  Status start_mpirun();
  Status start_llamanetd();
  Result<std::vector<int>> open_report();
  Status tell_places();
  Status find_own_place();
  Result<std::string> read_report();
  bool programs_live() const;
  bool is_first_of_node() const { return own_ranks_.front() == rank_.rank; }
  bool has_several_nodes() const { return first_ranks_.size() > 1; }
  std::string own_processes() const;

  PmiClient client_;
  int descriptor_ = -1;  ///< of the process manager
  LaunchedRank rank_;
  std::vector<std::uint32_t> node_of_rank_;
  std::vector<int> first_ranks_;        ///< by node
  std::vector<int> own_ranks_;          ///< of the own node
  std::vector<std::string> processes_;  ///< of own_ranks_: their numbers; only in the first rank of a node
  FileDescriptor report_;    ///< only there: what the programs have to tell, until all of them have ended
  bool is_waiting_ = false;  ///< in the last barrier
};

}  // namespace llamada::mpi
