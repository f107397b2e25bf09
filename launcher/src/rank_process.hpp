#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "error_tail.hpp"
#include "llamada/base/file_descriptor.hpp"
#include "program_files.hpp"
#include "rank_output.hpp"

namespace llamada::launcher {

/// Where a rank is in its life.
enum class RankPhase {
  running,   ///< its process lives
  draining,  ///< it has ended, what it wrote is still coming
  fencing,   ///< it is to be replaced: what is left of its processes is killed and waited for
  finished,  ///< nothing more will come of it
};

/// A rank as its parent sees it, over all its incarnations.
struct RankProcess {
  using TimePoint = std::chrono::steady_clock::time_point;

  std::uint32_t rank = 0;   ///< the slot
  std::uint32_t world = 0;  ///< its JobWorld
  std::uint32_t incarnation = 1;
  RankPhase phase = RankPhase::running;
  pid_t root = 0;      ///< the process that was started; 0 once reaped
  pid_t group = 0;     ///< its process group, of all incarnations the present one's
  pid_t attached = 0;  ///< the process that is the rank in MPI; may be a child of a wrapper script
  bool attached_alive = false;
  pid_t first_attached = 0;            ///< of incarnation 1: what getpid() tells all incarnations
  int root_status = 0;                 ///< once reaped
  std::optional<int> attached_status;  ///< if it was an orphan and we reaped it
  bool discarded = false;              ///< of a world that could not be started whole
  bool aborted = false;
  std::int32_t abort_code = 0;
  FileDescriptor pipes[2];  ///< of standard output, standard error
  RankOutput output;
  ErrorTail errors;  ///< the end of what this incarnation wrote on standard error
  FileDescriptor input;
  std::uint64_t input_given = 0;  ///< bytes of the job's input given to this incarnation
  std::optional<std::uint64_t> fault_call_index;
  std::uint32_t replacements = 0;
  std::uint64_t calls = 0;  ///< the most MPI calls that an incarnation had begun when it died
  MappedCode code;          ///< what its incarnations have mapped, as far as it was seen
  TimePoint started_at;
  TimePoint died_at;
  std::optional<std::size_t> open_death;  ///< index of the death record whose replay is going on
  std::uint64_t held_signals = 0;         ///< the user's, for a replacement that is not live yet: a bit each
  std::uint64_t timer = 0;

  /// Between its death and the moment at which its replacement is live.
  bool is_being_replaced() const { return phase == RankPhase::fencing || open_death; }
  bool drained() const { return !pipes[0] && !pipes[1]; }
};

}  // namespace llamada::launcher
