#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "coll/channel.hpp"
#include "coll/movement.hpp"
#include "coll/pieces.hpp"
#include "job_links.hpp"
#include "nodes.hpp"
#include "test.hpp"
#include "world/in_process.hpp"

/// Ranks as threads over private arenas, each with a collective channel of all.
namespace llamada::mpi::coll::testing {

/// Spins, yields, sleeps; and skips what is stale, as a rank's progress does.
class ChannelWaiter final : public Waiter {
 public:
  ChannelWaiter(World& world, Channel& channel) : world_(world), channel_(channel) {}
  void wait_until(const std::function<bool()>& done) override {
    ProgressHook* const link = world_.link();
    for (int spins = 0; !done(); ++spins) {
      if (link && link->carry()) continue;
      channel_.skip_stale();
      if (spins < 20)
        std::this_thread::yield();
      else
        world_.sleep([&] {
          if ((link && link->carry()) || done()) return true;
          // Behind what done() has taken there may lie what holds a writer's room.
          channel_.skip_stale();
          return false;
        });
    }
  }

 private:
  World& world_;
  Channel& channel_;
};

struct Rank {
  World& world;
  Channel& channel;
  Waiter& waiter;
  int self() const { return channel.self(); }
  int size() const { return channel.size(); }
};

/// Thrown by a program to let its rank die there.
struct Death {};

struct JobOptions {
  int size = 4;
  bool keep_all = false;
  std::size_t bound_bytes = std::size_t{1} << 20;
  bool is_near = false;  ///< the ranks are to share memory, whatever ranks_per_node() says
};

class Job {
 public:
  explicit Job(JobOptions options) : options_(options) {
    InProcessJob::Options job;
    job.sleep_max = std::chrono::hours(1);  // whoever is not woken hangs
    job.size = options.size;
    job.ranks_per_node = options.is_near ? 0 : ranks_per_node();
    if (!options.keep_all) job.links = job_links(options.size);
    auto created = InProcessJob::create(std::move(job));
    REQUIRE(created);
    job_ = std::move(*created);
  }

  /// Runs `program` on each rank; a rank that dies is replaced. Gives what ended a rank otherwise, or "".
  std::string run(const std::function<void(Rank&)>& program) {
    std::vector<std::thread> threads;
    for (int rank = 0; rank < options_.size; ++rank) threads.emplace_back([&, rank] { live(rank, program); });
    for (auto& thread : threads) thread.join();
    return failure_;
  }

  /// One incarnation after the other.
  void live(int rank, const std::function<void(Rank&)>& program) {
    while (!live_once(rank, program)) deaths_.fetch_add(1);
  }
  int deaths() const { return deaths_.load(); }
  InProcessJob& job() { return *job_; }

 private:
  bool live_once(int rank, const std::function<void(Rank&)>& program) {
    try {
      auto world = job_->attach(rank);
      if (!world) throw RankEnded{RankEnded::Kind::aborted, 1, world.error().text()};
      Channel::Options options;
      options.context = 7;
      options.members.resize(options_.size);
      std::iota(options.members.begin(), options.members.end(), 0);
      options.self = rank;
      options.keep_all = options_.keep_all;
      options.bound_bytes = options_.bound_bytes;
      auto channel = Channel::open(**world, std::move(options));
      if (!channel) throw RankEnded{RankEnded::Kind::aborted, 1, channel.error().text()};
      ChannelWaiter waiter(**world, **channel);
      Rank self{**world, **channel, waiter};
      try {
        program(self);
        // Nobody leaves while another may need its progress (as MPI_Finalize).
        finalize(self);
      } catch (const RankEnded&) {
        // Nor does a rank that gives up: the others are to find out by themselves.
        deliver(self);
        throw;
      }
    } catch (const Death&) {
      return false;
    } catch (const RankEnded& ended) {
      std::lock_guard lock(mutex_);
      if (!ended.text.empty()) failure_ = ended.text;
    }
    return true;
  }
  static void finalize(Rank& rank) {
    if (auto status = barrier(rank.channel, rank.waiter); !status)
      throw RankEnded{RankEnded::Kind::aborted, 1, status.error().text()};
    deliver(rank);
  }
  static void deliver(Rank& rank) {
    rank.waiter.wait_until([&] { return rank.world.has_delivered(); });
  }

  JobOptions options_;
  std::unique_ptr<InProcessJob> job_;
  std::mutex mutex_;
  std::string failure_;
  std::atomic<int> deaths_{0};
};

/// Bytes that depend on who made them, for what, and their place.
inline std::vector<std::byte> pattern(int rank, int salt, std::size_t bytes) {
  std::vector<std::byte> made(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    made[i] =
        static_cast<std::byte>((i * 31 + static_cast<std::size_t>(rank * 7 + salt * 13) + (i >> 9)) & 0xff);
  return made;
}

/// Catch2's assertions are not for several threads: programs collect what is wrong.
class Findings {
 public:
  void expect(bool good, const std::string& what) {
    if (good) return;
    std::lock_guard lock(mutex_);
    if (found_.empty()) found_ = what;
  }
  std::string found() {
    std::lock_guard lock(mutex_);
    return found_;
  }

 private:
  std::mutex mutex_;
  std::string found_;
};

}  // namespace llamada::mpi::coll::testing
