#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "plan.hpp"
#include "progress.hpp"

namespace llamada::failures {

/// One start of mpirun.
struct JobOrder {
  std::vector<std::string> command;  ///< mpirun and its arguments
  std::filesystem::path folder;      ///< where stdout, stderr and report.json go
  std::vector<TimedKill> kills;
  double run_seconds = 0;  ///< measured length of the run, which the kills' fractions are of
  int ranks = 1;
  HangLimits hang_limits;
  const std::atomic<bool>* interrupted = nullptr;  ///< once true, the job is ended and the outcome says so
};

struct JobOutcome {
  int exit_code = -1;  ///< as a shell sees it
  bool hung = false;
  bool interrupted = false;
  int movements = 0;  ///< how often something new was seen in the ranks' arenas
  double wall_seconds = 0;
  double end_after_kill_seconds = -1;  ///< from the last of the runner's kills to the end of mpirun
  std::vector<pid_t> killed;           ///< the ranks that the runner killed
  int kills_done = 0;                  ///< of JobOrder::kills, those that found their victim
  std::string output, errors;          ///< stdout and stderr of mpirun
  std::string report;                  ///< the text of the report, empty if there is none
  std::string left_behind;             ///< processes that outlived the job, empty if none did
  std::string dump;                    ///< of a hang: why it counts as one, and what every process was doing
};

/// Starts the command, kills by the clock what the order names, waits for the end of mpirun and for that of
/// every process of the job; what is left after some seconds is named in the outcome and killed. May be
/// called by several threads at a time.
JobOutcome run_job(const JobOrder& order);

/// Makes this process the one that orphans go to, and, where the system allows it, gives it a /dev/shm and a
/// /tmp of its own, so that what is left there was left by our jobs. Call before any thread is started.
///
/// Returns the folders that are private now; what is left in others is not looked for.
std::vector<std::filesystem::path> isolate(const std::filesystem::path& keep);

/// The names of what lies in the private /dev/shm and /tmp, empty if nothing does or they are not private.
std::string files_left();

}  // namespace llamada::failures
