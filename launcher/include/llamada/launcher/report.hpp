#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "llamada/launcher/job_arenas.hpp"

namespace llamada::launcher {

/// One death of a rank, as --report tells it. Times in seconds; without a value: not known, or it did not
/// happen.
struct DeathRecord {
  std::uint32_t rank = 0;   ///< the slot
  std::uint32_t world = 0;  ///< 0: the ranks that mpirun started
  std::string name;         ///< "rank 3", "rank 0 of spawned world 1"; empty: by the slot
  std::uint32_t incarnation = 1;
  int pid = 0;
  std::optional<int> signal;
  std::optional<int> exit_code;
  std::string mpi_call;
  std::uint64_t call_index = 0;
  RankState state = RankState::none;
  bool replaying = false;
  std::optional<double> detected_after_s;
  std::optional<double> respawn_s;
  std::optional<double> replay_s;
  std::optional<double> total_s;
  bool sent_before = false;
  bool replaced = false;
  std::vector<std::string> last_errors;  ///< the last lines of its standard error, fit for a terminal
  /// The kernel killed it because the memory of this was used up, "the machine".
  std::optional<std::string> memory_used_up;
  bool cause_is_unknown = false;  ///< the rank was another launcher's child: `signal` is a guess
  /// mpirun killed it because its LIVELINESS lease was over, "was stopped for 1.1 s, longer than …"; else
  /// empty.
  std::string silence;
  std::string core_file;       ///< its path, empty if it left none that can be found
  std::string lost_with_node;  ///< the node, as the user named it, that was lost with the rank; else empty
};

struct InjectionRecord {
  std::string rule;  ///< with the seed that was drawn for it
  bool fired = false;
  std::uint64_t times = 0;  ///< how often it fired
};

/// Ranks that MPI_Comm_spawn has added: slots [first, first + rank_count).
struct SpawnedWorldRecord {
  std::uint32_t number = 0;
  std::uint32_t first = 0;
  std::uint32_t rank_count = 0;
  std::uint32_t spawned_by = 0;
};

/// A rank that was in one MPI call for longer than the profile's DEADLINE.
struct OverdueRecord {
  std::uint32_t rank = 0;  ///< the slot
  std::string mpi_call;
  std::uint64_t call_index = 0;
  double stay_s = 0;      ///< when it was noticed
  std::string waits_for;  ///< a sentence without a full stop; empty: not known
};

/// A node that was lost while ranks ran.
struct LostNodeRecord {
  std::uint32_t node = 0;
  std::string title;  ///< as the user named it
  std::string why;    ///< "its agent …"
  /// From the loss until all ranks were where they had been before; nothing: they never came there.
  std::optional<double> total_s{};
};

/// A node that the ranks have left on purpose.
struct DrainedNodeRecord {
  std::string name;
  std::string asked_by;              ///< "llamada drain", "SIGTERM"
  std::vector<std::uint32_t> ranks;  ///< that ran there
  /// From the stop until all ranks were where they had been before; nothing: they never came there, or none
  /// ran there.
  std::optional<double> total_s{};
};

/// What a job was like (docs/mpirun.md has the fields).
struct Report {
  std::uint64_t job_number = 0;
  std::uint32_t rank_count = 0;
  std::string profile;
  std::vector<DeathRecord> deaths;
  std::uint32_t replacements = 0;
  std::vector<InjectionRecord> injections;
  std::vector<LostNodeRecord> lost_nodes;
  std::vector<DrainedNodeRecord> drained_nodes;
  std::vector<OverdueRecord> overdue;
  std::vector<std::string> deadlocks;  ///< as they were said
  std::vector<RankView> ranks;         ///< in order
  std::uint32_t spawned_world_count = 0;
  std::vector<SpawnedWorldRecord> worlds;  ///< those whose slots no later one has been given
  /// Of a job on several nodes, by node: what its driver dropped (JobArenas::driver_drops()).
  std::map<std::uint32_t, std::vector<std::uint64_t>> driver_drops;
};

/// The report as one JSON object, without the exit code and the times that mpirun knows.
std::string report_to_json(const Report& report);

/// Adds what mpirun knows to what llamanetd told (`json`; empty if it told nothing) and writes the file. If
/// the file is mpirun's own standard output or error, the report goes behind what is there.
Status write_report(const std::string& path, const std::string& json, int exit_code, double wall_seconds);
/// Whether such a file can be written, as far as that can be known before the job. Changes no file.
Status check_report_path(const std::string& path);

}  // namespace llamada::launcher
