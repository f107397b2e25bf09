#pragma once

#include <ucontext.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "llamada/base/random.hpp"
#include "llamada/links/fake_link.hpp"
#include "p2p/engine.hpp"
#include "runtime/runtime.hpp"
#include "set_clock.hpp"
#include "world/world.hpp"

/// A job of ranks in one thread: each rank is a context of its own that runs the real engine over private
/// arenas. A seed decides who runs when, and who dies when: at any of its turns, or right behind any commit.
/// Time is the job's own: each turn takes a microsecond, and while all ranks sleep it passes at once.
namespace llamada::mpi::sim {

/// Thrown through a rank that dies.
struct Death {};

/// What a rank has sent to and received from another, in order: a digest for each message. Of the last
/// incarnation.
struct History {
  std::vector<std::vector<std::uint64_t>> sent;      // by destination
  std::vector<std::vector<std::uint64_t>> received;  // by source
};

struct JobOptions {
  std::uint64_t seed = 0;
  int size = 3;
  bool rebuild = true;
  int kills = 0;
  /// So often all ranks die at once, and with them all that they have; what cuts have taken out of their
  /// journals is left, and all resume.
  int outages = 0;
  /// At this turn the job's histories are kept no longer (and nobody is killed from then on); 0: never.
  std::uint64_t unprotect_at = 0;
  std::size_t eager_bytes_max = 64 * 1024;
  std::uint64_t log_bytes_max = 512 * 1024;
  /// The program asks a coin that is not recorded, once, on one rank.
  bool has_coin = false;
  /// How long a rank sleeps at most, in the job's time; 0: until somebody wakes it, so that a missing wake-up
  /// shows.
  std::chrono::nanoseconds sleep_max{0};
  /// Of so many ranks one after the other each is on the same node, and reaches those of other nodes by links
  /// in the job's time; 0: there are no links.
  int ranks_per_linked_node = 0;
  links::FakeFaults faults;  ///< of these links
  std::uint64_t link_window_bytes = 512 << 10;
};

class Job;

/// A rank as its program sees it.
struct Rank {
  Job& job;
  int self;
  int size;
  std::vector<MPI_Comm> communicators;  // all of all ranks
  History& history;
  /// A turn may end here.
  void pause() const;
  World& world() const;
  /// What is not recorded: true in the first life of a rank, false in its replacements.
  bool coin() const;
};

class Job {
 public:
  Job(JobOptions options, std::function<void(Rank&)> program);
  ~Job();

  /// Runs until every rank is done. Gives what went wrong, or "".
  std::string run();

  /// Whether run() ended because a rank saw that its replay had diverged.
  bool has_diverged() const { return has_diverged_; }
  bool lost_protection() const { return !protected_; }
  /// How much of the job's time has passed.
  std::chrono::nanoseconds time() const { return clock_.monotonic() - SetClock().monotonic(); }
  int deaths() const { return deaths_; }
  int deaths_in_replay() const { return deaths_in_replay_; }
  int outages() const { return outages_; }
  /// How many entries ranks have resumed with, in all outages.
  std::uint64_t restored() const { return restored_; }
  std::uint64_t counted(log::Counter counter) const;
  const History& history(int rank) const;
  const JobOptions& options() const { return options_; }

 private:
  static constexpr std::size_t nodes_max = 8;
  class SimWorld;
  class SimLink;
  struct RankState;
  friend struct Rank;

  void start(RankState& rank);
  static void enter(unsigned high, unsigned low);
  void live(RankState& rank);
  void stay_for_others(RankState& rank);
  bool has_links() const { return options_.ranks_per_linked_node > 0; }
  void note_change();
  void make_collectives(RankState& rank);
  void give_up_turn(RankState& rank);
  void look_for_death(RankState& rank);
  bool step();
  void end_sleeps();
  std::vector<RankState*> able_ranks() const;
  void kill_when_due();
  void begin_cuts();
  std::atomic<std::uint64_t>& cut_of(int rank);
  void cut_when_due();
  void read_for_cut(RankState& rank);
  void end_all_when_due();
  void resume(RankState& rank);
  void wake(int rank);

  JobOptions options_;
  std::function<void(Rank&)> program_;
  Random random_;
  links::FakeNetwork network_;
  std::vector<std::unique_ptr<RankState>> ranks_;
  std::vector<std::uint64_t> kill_turns_;
  std::vector<std::uint64_t> outage_turns_;
  /// By node, the number of its present cut; and of the cut that is being collected, or was last.
  std::array<std::atomic<std::uint64_t>, nodes_max> cuts_{};
  std::uint64_t cut_ = 0;
  std::uint64_t next_cut_turn_ = 0;
  std::uint32_t generation_ = 0;  // one more after each outage
  ucontext_t scheduler_;
  std::uint64_t turn_ = 0;
  SetClock clock_;
  std::uint64_t changes_ = 0;  // of ranks' states
  bool protected_ = true;
  bool is_over_ = false;  // with links: all have finished, and nobody is killed any more
  bool is_unwound_ = false;
  int deaths_ = 0;
  int deaths_in_replay_ = 0;
  int outages_ = 0;
  std::uint64_t restored_ = 0;
  std::string failure_;
  bool has_diverged_ = false;
};

}  // namespace llamada::mpi::sim
