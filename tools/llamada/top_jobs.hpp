#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "llamada/base/result.hpp"
#include "llamada/llamanet/inspector.hpp"

namespace llamada::tools {

/// What the ranks of all jobs of this user do during one interval of `llamada top`: read from their arenas,
/// so that no rank notices.
class JobsInterval {
 public:
  /// The interval begins. Errors: those of find_drivers(). A job that cannot be looked at is left out.
  static Result<JobsInterval> begin();

  /// To be called again and again during the interval: how often a rank is found in MPI says how much of its
  /// time it is there.
  void sample();
  /// The interval is over, after so many seconds: [{"job": "job-…", "protected": …, "ranks": [{"rank": 0,
  /// "messages_per_s": …, "bytes_per_s": …, "in_mpi": 0.25, "call": "MPI_Recv", "waits": true,
  /// "replacements": 0, "memory_bytes": …, "live_bytes": …, "state": "running"}, …]}, …]
  nlohmann::ordered_json describe(double elapsed_s) const;

 private:
  struct Rank {
    std::uint64_t messages = 0;  // at the beginning
    std::uint64_t bytes = 0;
    std::uint64_t found_in_mpi = 0;
  };
  struct Job {
    llamanet::Inspector driver;
    std::vector<Rank> ranks;  // as its slots
  };

  std::vector<Job> jobs_;
  std::uint64_t samples_ = 0;
};

/// The table that describe() gives, for people; nothing for no jobs.
void print_jobs(const nlohmann::ordered_json& jobs);

}  // namespace llamada::tools
