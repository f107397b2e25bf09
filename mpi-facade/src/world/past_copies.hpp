#pragma once

#include <cstdint>
#include <map>

#include "llamada/base/result.hpp"
#include "llamada/log/arena_writer.hpp"
#include "llamada/replication/log_name.hpp"

namespace llamada::mpi {

/// What the predecessors of a replacement had of the logs of other nodes.
///
/// Their copies have been used again, so a replacement must get each log anew, from its first record on. How
/// many records its predecessors had stays in the rank's arena, in a log with the key {8, 0}: one record
/// {writer u32, 0 u32, key u64 × 2, records u64} for each copy that a replacement has found. The highest
/// number counts. So a replacement that dies in its replay leaves what its own predecessor had.
class PastCopies {
 public:
  PastCopies() = default;
  /// Notes what the copies in this arena have, gives their memory back, and lets the cursors in them begin
  /// again. To be called before any of these logs is followed. May be killed at any step, and called again.
  /// Errors: out_of_resources, parse_error.
  static Result<PastCopies> take(log::ArenaWriter& own);

  /// How many records of this log a predecessor has had.
  std::uint64_t records_of(const replication::LogName& name) const {
    const auto found = records_.find(name);
    return found == records_.end() ? 0 : found->second;
  }

 private:
  void read(const log::ArenaWriter& own);

  std::map<replication::LogName, std::uint64_t> records_;
};

}  // namespace llamada::mpi
