#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "coll/record.hpp"
#include "llamada/base/result.hpp"
#include "world/world.hpp"

namespace llamada::mpi::coll {

/// A collective log of another member as a reader sees it.
///
/// Threads: the rank's MPI thread.
class PeerLog {
 public:
  /// Looks for the log in the arena of this rank: true when it is there, which it is once the member has used
  /// the communicator. Errors: out_of_resources (no room for a cursor in the own arena).
  Result<bool> find(World& world, const log::LogKey& key, int world_rank);
  /// In a copy of the process that has taken over, of a member on another node: goes on behind what was read.
  /// Errors: as find().
  Status take_over(World& world, const log::LogKey& key, int world_rank);
  bool is_found() const { return found_; }
  log::LogReader& reader() { return reader_; }
  const log::LogReader& reader() const { return reader_; }

  /// Whether release() has anything to say.
  bool has_left_chunk() const { return reader_.position_chunk() != released_; }
  /// Lets the writer reuse the chunks that lie behind. False when there are none.
  bool release();

  /// The word that says whether the member's process sleeps; null: the world is to be asked.
  const std::atomic<std::uint32_t>* sleeping() const { return sleeping_; }

 private:
  log::LogReader reader_;
  bool found_ = false;
  log::DirectoryScan scan_;
  std::uint64_t released_ = 0;
  const std::atomic<std::uint32_t>* sleeping_ = nullptr;
};

}  // namespace llamada::mpi::coll
