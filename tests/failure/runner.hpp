#pragma once

#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include "job.hpp"
#include "verdict.hpp"

namespace llamada::failures {

struct RunnerOptions {
  std::filesystem::path build;   ///< the build folder: bin/mpirun, samples/, tests/failure/
  std::filesystem::path folder;  ///< where the outputs of failing runs stay
  std::uint64_t seed = 1;
  int row = 0;    ///< 0: all rows in turn
  int nodes = 1;  ///< over which the ranks of each job are spread: nodes of this machine
  HangLimits hang_limits;
  const std::atomic<bool>* interrupted = nullptr;  ///< once true, runs end at once and count for nothing
};

/// A run that has been judged.
struct RunResult {
  std::uint64_t index = 0;
  int attempts = 0;  ///< starts until a kill counted
  Plan plan;
  Verdict verdict;
  bool interrupted = false;  ///< the verdict means nothing
  double wall_seconds = 0;
  std::vector<std::string> command;  ///< of the last attempt
  std::filesystem::path folder;      ///< of its outputs, kept when it failed
};

/// Carries out numbered runs, each fixed by (seed, index, row). May be used by several threads at a time.
class Runner {
 public:
  explicit Runner(RunnerOptions options) : options_(std::move(options)) {}

  /// Runs, and repeats with other numbers as long as no kill counted where one must.
  RunResult run(std::uint64_t index);

  /// How to repeat a run.
  std::string repeat_command(std::uint64_t index) const;

 private:
  Reference reference_of(const Workload& workload, int ranks);
  Reference measure(const Workload& workload, int ranks);
  std::filesystem::path program_of(const Workload& workload) const;
  std::vector<std::string> command_of(const Plan& plan, const Reference& reference,
                                      const std::filesystem::path& folder) const;
  RunResult attempt(std::uint64_t index, int number);

  RunnerOptions options_;
  std::mutex mutex_;  ///< guards references_, and lets one reference be measured at a time
  std::map<std::string, Reference> references_;
};

}  // namespace llamada::failures
