#pragma once

#include <map>
#include <string>
#include <vector>

#include "job.hpp"

namespace llamada::failures {

/// What a run without failures gave.
struct Reference {
  std::string output;
  double wall_seconds = 0;
  int scale = 1;
};

/// The figures of one run, from its report.
struct Figures {
  int deaths = 0;
  int counted = 0;  ///< kills that hit a rank between MPI_Init and its exit, after its first send
  int counted_by_clock =
      0;  ///< of them, those that a clock caused: by the runner, or by a timed rule that fired
  std::uint64_t sends_compared = 0;
  std::uint64_t determinants_replayed = 0;
  std::map<std::string, int> where;  ///< MPI call, or phase, and how many counted kills hit there
  std::vector<double> replay_seconds;
  std::vector<double>
      silence_seconds;  ///< from the first look that showed a silence to the replacement's start
};

struct Verdict {
  bool missed = false;             ///< nothing that had to be hit was hit: the run shows nothing
  std::vector<std::string> wrong;  ///< empty: the run is as it must be
  Figures figures;
};

/// Judges a run by its plan.
Verdict judge(const Plan& plan, const JobOutcome& outcome, const Reference& reference);

}  // namespace llamada::failures
