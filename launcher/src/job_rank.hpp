#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "error_tail.hpp"
#include "leases.hpp"
#include "llamada/launcher/job_arenas.hpp"
#include "rank_output.hpp"

namespace llamada::launcher {

/// Where a rank is in its life, as the job sees it.
enum class RankPhase {
  running,   ///< its process lives, or is being started
  draining,  ///< it has ended, what it wrote is still coming
  fencing,   ///< it is to be replaced: what is left of its processes is killed and waited for
  finished,  ///< nothing more will come of it
};

/// A rank of the job over all its incarnations, wherever they run.
struct JobRank {
  using TimePoint = std::chrono::steady_clock::time_point;

  std::uint32_t slot = 0;
  std::uint32_t world = 0;  ///< its JobWorld
  std::uint32_t incarnation = 1;
  RankPhase phase = RankPhase::running;
  std::int32_t pid = 0;             ///< of the process that was started; 0 before
  std::int32_t first_attached = 0;  ///< of incarnation 1: what getpid() tells all incarnations
  std::int32_t root_status = 0;     ///< as wait() has it, once it has ended
  bool discarded = false;           ///< of a world that could not be started whole
  std::optional<int> lost_code;     ///< it is lost, and the others go on; the exit code that it would mean
  bool aborted = false;
  std::int32_t abort_code = 0;
  RankOutput output;
  ErrorTail errors;  ///< the end of what this incarnation wrote on standard error
  std::optional<std::uint64_t> fault_call_index;
  std::uint32_t replacements = 0;
  std::uint64_t calls = 0;  ///< the most MPI calls that an incarnation had begun when it died
  TimePoint started_at;
  TimePoint died_at;
  std::optional<std::size_t> open_death;   ///< index of the death record whose replay is going on
  std::optional<LeaseFinding> lease_over;  ///< why mpirun has killed this incarnation
  std::uint64_t held_signals = 0;          ///< the user's, for a replacement that is not live yet: a bit each
  RankView view;                           ///< when nothing more came of it

  /// Between its death and the moment at which its replacement is live.
  bool is_being_replaced() const { return phase == RankPhase::fencing || open_death; }
};

}  // namespace llamada::launcher
