#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "llamada/base/result.hpp"
#include "llamada/launcher/job_arenas.hpp"

namespace llamada::launcher {

/// Of one MPI_Comm_spawn.
inline constexpr std::uint32_t world_size_max = 1024;

/// What a rank executes.
struct Command {
  std::string program;  ///< what is executed: the file, or a shell that reads it
  std::string file;
  std::vector<std::string> arguments;
  std::string working_directory;  ///< empty: where llamanetd stands
};

/// The ranks of one MPI_COMM_WORLD: those that mpirun asked for, or those of one MPI_Comm_spawn. They are
/// numbered by the slots [first, first + count) of the job.
struct JobWorld {
  std::uint32_t number = 0;  ///< 0: mpirun's
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  std::uint32_t parent = 0;  ///< the slot of who spawned it
  std::uint32_t left = 0;    ///< of its slots: not given to another world since
  std::vector<Command> commands;
  std::vector<std::uint32_t> nodes;       ///< by rank in the world; empty in a job on one, and of mpirun's
  std::vector<std::uint32_t> command_of;  ///< by rank in the world: index of its command; empty: the first

  const Command& command(std::uint32_t rank_in_world) const {
    return commands[command_of.empty() ? 0 : command_of[rank_in_world]];
  }
  std::uint32_t command_number(std::uint32_t rank_in_world) const {
    return command_of.empty() ? 0 : command_of[rank_in_world];
  }
  /// "rank 3", "rank 0 of spawned world 1".
  std::string name_of(std::uint32_t rank_in_world) const;
};

/// The world that a rank asks for, without its place: programs found. Pure but for the look at files. `path`
/// is the value of PATH. Errors name the program.
Result<JobWorld> plan_world(const std::vector<SpawnCommand>& commands, const std::string& path);

}  // namespace llamada::launcher
