#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "world/world.hpp"

namespace llamada::mpi {

/// How a rank of an InProcessJob ends when World::aborted() or diverged() is called: thrown, because the
/// process must go on.
struct RankEnded {
  enum class Kind { aborted, diverged };
  Kind kind = Kind::aborted;
  int code = 0;
  std::string text;
};

/// A job whose ranks are threads of one process, each with its arena in private memory: for tests, and for a
/// program that is started without a launcher (one rank). A rank "dies" when its World is destroyed; attach()
/// again gives the next incarnation, over the same arena.
///
/// Threads: attach() and the Worlds may be used by one thread for each rank at the same time.
class InProcessJob {
 public:
  struct Options {
    int size = 1;
    /// Of so many ranks one after the other each is local to the others, and to no more: who asks for the
    /// arena of one that is not ends the process. 0: all are local.
    int ranks_per_node = 0;
    qos::Profile profile;
    /// World::aborted() and diverged() say the text on stderr and end the process; else they throw RankEnded.
    bool ends_process = false;
    std::uint64_t arena_bytes = std::uint64_t{256} << 20;  ///< of address space, for each rank
    /// How long a rank sleeps at most whom nobody wakes. Tests that no wake-up is missing have it long.
    std::chrono::nanoseconds sleep_max = std::chrono::milliseconds(100);
  };

  static Result<std::unique_ptr<InProcessJob>> create(Options options);
  ~InProcessJob();
  InProcessJob(const InProcessJob&) = delete;
  InProcessJob& operator=(const InProcessJob&) = delete;

  /// The next incarnation of a rank. The job must outlive it, and the one before it must be gone.
  Result<std::unique_ptr<World>> attach(int rank);

  /// Histories are kept no longer (log_bytes_per_node used up).
  void unprotect() { protected_.store(false, std::memory_order_relaxed); }
  /// Asks all ranks what they wait for (World::survey()). Gives the number of the question.
  std::uint32_t raise_survey();
  /// Pieces of shared memory that some rank holds.
  std::size_t segment_count();

 private:
  friend class InProcessWorld;
  struct Rank {
    std::byte* memory = nullptr;
    std::uint32_t incarnation = 0;
    std::mutex mutex;
    std::condition_variable woken;
    std::uint64_t wakes = 0;
    std::atomic<bool> sleeping{false};  // for the rank's own threads
  };

  class Part;
  struct Segment {
    std::byte* memory = nullptr;
    std::size_t bytes = 0;
    std::set<int> holders;  // ranks
  };

  explicit InProcessJob(Options options);
  int node_of(int rank) const { return options_.ranks_per_node == 0 ? 0 : rank / options_.ranks_per_node; }
  log::PeerArena arena_of(int rank) const {
    return {ranks_[static_cast<std::size_t>(rank)]->memory, options_.arena_bytes};
  }
  Result<SharedSegment> share(int rank, std::uint64_t name, std::size_t bytes);
  void let_go(int rank, std::uint64_t name);

  Options options_;
  std::vector<std::unique_ptr<Rank>> ranks_;
  std::atomic<bool> protected_{true};     // relaxed: orders nothing
  std::atomic<std::uint32_t> survey_{0};  // release; acquire by the ranks
  std::mutex segments_mutex_;
  std::map<std::uint64_t, Segment> segments_;
};

}  // namespace llamada::mpi
