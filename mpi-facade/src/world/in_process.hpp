#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "llamada/base/clock.hpp"
#include "llamada/base/file_descriptor.hpp"
#include "llamada/replication/link.hpp"
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

/// The links between the ranks of an InProcessJob, two for each rank.
///
/// Threads: make() may be called by one thread for each rank at the same time.
class JobLinks {
 public:
  enum class Lane { small, bulk };
  virtual ~JobLinks() = default;
  /// The rank's link; once for each of its incarnations, all of which have the same address.
  virtual std::unique_ptr<replication::Link> make(int rank, Lane lane) = 0;
  virtual replication::Address address(int rank, Lane lane) const = 0;
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
    /// By which ranks that are not local reach each other (RemoteLogs). Null: they read each other's logs
    /// where they lie. So they do where histories are kept, too: ranks with copies of logs are not replaced
    /// yet.
    std::shared_ptr<JobLinks> links;
    /// Each rank is a world of its own to the links: others are met when they are named.
    bool meets_when_named = false;
    /// The links' time; null: the machine's. Borrowed.
    const Clock* clock = nullptr;
    qos::Profile profile;
    const std::atomic<std::uint64_t>* cut = nullptr;  ///< World::cut(), borrowed
    std::function<void()> await_stable;               ///< World::await_stable(); empty: it returns at once
    const std::string* identity = nullptr;            ///< World::identity() of all ranks, borrowed
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
  /// The rank, whose World is gone or will not be used any more, is lost for the others.
  void lose(int rank);
  /// Asks all ranks what they wait for (World::survey()). Gives the number of the question.
  std::uint32_t raise_survey();
  /// Pieces of shared memory that some rank holds.
  std::size_t segment_count();

 private:
  friend class InProcessWorld;
  struct Rank {
    std::byte* memory = nullptr;
    std::atomic<std::uint32_t> incarnation{0};  // relaxed: changes_ orders it
    std::atomic<bool> is_done{false};           // the same
    std::atomic<bool> is_lost{false};           // the same
    FileDescriptor event;                       // wakes a rank with links
    std::mutex mutex;
    std::condition_variable woken;
    std::uint64_t wakes = 0;
    std::atomic<bool> sleeping{false};  // for the rank's own threads
  };

  class Part;
  class Links;
  struct Segment {
    std::byte* memory = nullptr;
    std::size_t bytes = 0;
    std::set<int> holders;  // ranks
  };

  explicit InProcessJob(Options options);
  Rank& rank(int number) const { return *ranks_[static_cast<std::size_t>(number)]; }
  const Clock& clock() const { return options_.clock ? *options_.clock : clock_; }
  int node_of(int rank) const { return options_.ranks_per_node == 0 ? 0 : rank / options_.ranks_per_node; }
  log::PeerArena arena_of(int rank) const {
    return {ranks_[static_cast<std::size_t>(rank)]->memory, options_.arena_bytes};
  }
  void wake(Rank& rank);
  /// Whether ranks of different nodes reach each other by links.
  bool has_links() const;
  void note_change();
  Result<SharedSegment> share(int rank, std::uint64_t name, std::size_t bytes);
  void let_go(int rank, std::uint64_t name);

  Options options_;
  std::vector<std::unique_ptr<Rank>> ranks_;
  std::atomic<bool> protected_{true};      // relaxed: orders nothing
  std::atomic<std::uint32_t> survey_{0};   // release; acquire by the ranks
  std::atomic<std::uint64_t> changes_{0};  // the same: one more whenever a rank has come or gone
  SystemClock clock_;
  std::mutex segments_mutex_;
  std::map<std::uint64_t, Segment> segments_;
};

}  // namespace llamada::mpi
