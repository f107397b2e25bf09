#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "llamada/base/file_descriptor.hpp"
#include "program_files.hpp"
#include "standbys.hpp"

namespace llamada::launcher {

/// Where the processes of a rank's present incarnation are.
enum class ProcessPhase {
  none,      ///< none has been started
  running,   ///< its process lives
  ended,     ///< it has ended, and the coordinator decides what follows
  draining,  ///< what it wrote is still coming
  fencing,   ///< it is to be replaced: what is left of its processes is killed and waited for
  fenced,    ///< nothing is left; the coordinator may have a replacement started
  finished,  ///< nothing more will come of it
};

/// The processes of a rank as their parent sees them: those of the present incarnation.
struct RankProcess {
  using TimePoint = std::chrono::steady_clock::time_point;

  std::uint32_t slot = 0;
  std::uint32_t incarnation = 1;
  std::uint64_t token = 0;
  std::uint64_t life = 0;  ///< of the slot's owner; a later world in the same slot has another one
  ProcessPhase phase = ProcessPhase::none;
  pid_t root = 0;      ///< the process that was started; 0 once reaped
  pid_t group = 0;     ///< its process group
  pid_t attached = 0;  ///< the process that is the rank in MPI; may be a child of a wrapper script
  bool attached_alive = false;
  int root_status = 0;                  ///< once reaped
  std::optional<int> attached_status;   ///< if it was an orphan and we reaped it
  std::array<FileDescriptor, 2> pipes;  ///< of standard output, standard error
  std::string program, working_directory;
  MappedCode code;  ///< what its incarnations have mapped, as far as it was seen
  TimePoint started_at;
  std::uint64_t timer = 0;
  Standbys standbys;

  pid_t pid() const { return attached != 0 ? attached : group; }
  bool drained() const { return !pipes[0] && !pipes[1]; }
};

}  // namespace llamada::launcher
