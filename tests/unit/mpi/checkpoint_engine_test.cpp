// Ranks that exchange messages and collectives, and pass checkpoints: what follows lies in other logs.
#include <algorithm>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "coll/collectives.hpp"
#include "coll/movement.hpp"
#include "llamada/base/random.hpp"
#include "p2p/engine.hpp"
#include "profiles.hpp"
#include "runtime/runtime.hpp"
#include "test.hpp"
#include "world/in_process.hpp"
#include "world/past_log.hpp"

using namespace llamada;
using namespace llamada::mpi;

namespace {

constexpr int rank_count = 2;

/// Thrown by a program to let its rank die there.
struct Death {};

class EngineWaiter final : public coll::Waiter {
 public:
  explicit EngineWaiter(Engine& engine) : engine_(engine) {}
  void wait_until(const std::function<bool()>& done) override { engine_.wait_until(done); }

 private:
  Engine& engine_;
};

/// Catch2's assertions are not for several threads: programs collect what is wrong.
class Findings {
 public:
  void expect(bool good, const std::string& what) {
    const std::lock_guard lock(mutex_);
    if (!good && found_.empty()) found_ = what;
  }
  std::string found() {
    const std::lock_guard lock(mutex_);
    return found_;
  }

 private:
  std::mutex mutex_;
  std::string found_;
};

std::vector<std::byte> make_bytes(std::size_t size, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::byte> bytes(size);
  for (auto& byte : bytes) byte = static_cast<std::byte>(random.next());
  return bytes;
}

/// One process of a rank, in a thread of its own, as a program that takes checkpoints has it.
class Member {
 public:
  Member(InProcessJob& job, int rank, Findings& findings)
      : findings_(findings), world_(std::move(*job.attach(rank))) {
    objects_.add_world(rank, rank_count, 1, 2);
    engine_ = std::move(*Engine::create(*world_, clock_));
    waiter_ = std::make_unique<EngineWaiter>(*engine_);
    coll::Collectives::Options options;
    options.keep_all = true;
    if (world_->incarnation() > 1) options.may_contribute = [this] { return engine_->may_tell_new(); };
    collectives_ = std::make_unique<coll::Collectives>(*world_, *waiter_, clock_, std::move(options));
    engine_->set_past({[this] { return collectives_->left_over(); }, {}});
    engine_->on_progress([this] { collectives_->skip_stale(); });
  }
  ~Member() {
    // The rank goes on, though this process of it may not.
    collectives_->leave();
    past_.clear();
  }

  int rank() const { return world_->rank(); }
  int peer() const { return 1 - rank(); }
  bool is_first() const { return world_->incarnation() == 1; }
  World& world() { return *world_; }
  Engine& engine() { return *engine_; }
  Communicator& communicator() { return *objects_.comm_world(); }
  void expect(bool good, const std::string& what) {
    findings_.expect(good, fmt::format("rank {} (incarnation {}) behind checkpoint {}: {}", rank(),
                                       world_->incarnation(), world_->checkpoint(), what));
  }

  void send(std::size_t bytes, std::uint64_t seed, int tag = 7) {
    auto out = make_bytes(bytes, seed);
    engine_->send(buffer(out), peer(), tag, communicator(), SendMode::standard);
  }
  void receive(std::size_t bytes, std::uint64_t seed, int source, int tag = 7) {
    std::vector<std::byte> in(bytes);
    MPI_Status status;
    engine_->receive(buffer(in), source, tag, communicator(), &status);
    expect(in == make_bytes(bytes, seed), fmt::format("the message with seed {} has other bytes", seed));
  }
  void barrier() {
    auto channel = collectives_->channel(communicator());
    expect(channel.has_value() && coll::barrier(**channel, *waiter_).has_value(), "a barrier fails");
  }
  /// Both send and receive messages of all sizes, also from any source. Those of rank 1 have a seed that is
  /// one more.
  void exchange(std::uint64_t seed) {
    static constexpr std::size_t sizes[] = {0, 8, 48, 1000, 70'000, 300'000};
    for (std::size_t at = 0; at < std::size(sizes); ++at) {
      const std::uint64_t message = 100 * seed + 10 * at;
      if (rank() == 0) send(sizes[at], message);
      receive(sizes[at], message + static_cast<std::uint64_t>(peer()), at % 2 == 0 ? MPI_ANY_SOURCE : peer());
      if (rank() == 1) send(sizes[at], message + 1);
      barrier();
    }
  }
  /// As LLAMADA_Checkpoint has it, without writing one: the rank passes this checkpoint, with all others.
  void pass(std::uint32_t number) {
    replay::Determinants& determinants = engine_->determinants();
    const bool repeats = determinants.was_passed(number);
    if (!repeats) engine_->finish_replay_at_checkpoint();
    determinants.pass_checkpoint(number);
    std::vector<Communicator*> communicators{objects_.comm_world()};
    collectives_->pass_checkpoint(communicators, past_);
    engine_->pass_checkpoint(number, repeats, false, past_);
    expect(world_->checkpoint() == number, "it has another number");
    barrier();
    for (const auto& log : past_)
      if (log->checkpoint() > 0) log->discard();
    std::erase_if(past_, [](const auto& log) { return log->checkpoint() > 0; });
  }
  bool has_log(log::LogKey key) { return world_->arena().find_log(key).has_value(); }
  void finish() {
    engine_->finish();
    engine_->finish_replay();
  }

 private:
  Buffer buffer(std::vector<std::byte>& bytes) {
    return {bytes.data(), bytes.size(), objects_.datatypes.find(MPI_BYTE)};
  }

  Findings& findings_;
  const SystemClock clock_;
  std::unique_ptr<World> world_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<EngineWaiter> waiter_;
  std::unique_ptr<coll::Collectives> collectives_;
  Runtime objects_;
  std::vector<std::unique_ptr<PastLog>> past_;
};

/// Runs the program on both ranks; one that throws Death is replaced. Gives what is wrong, or what ended a
/// rank.
std::string run(const std::function<void(Member&)>& program) {
  InProcessJob::Options options;
  options.size = rank_count;
  options.sleep_max = std::chrono::hours(1);  // whoever is not woken hangs
  options.profile = fault_tolerant();
  auto job = InProcessJob::create(options);
  REQUIRE(job);
  Findings findings;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < rank_count; ++rank) {
    threads.emplace_back([&, rank] {
      for (;;) {
        try {
          Member member(**job, rank, findings);
          program(member);
          member.finish();
          return;
        } catch (const Death&) {
        } catch (const RankEnded& ended) {
          return findings.expect(false, "ended: " + ended.text);
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  return findings.found();
}

}  // namespace

TEST_CASE("checkpoint engine: behind each checkpoint messages and collectives go on, and count from 1 on",
          "[mpi]") {
  CHECK(run([](Member& self) {
          for (std::uint32_t checkpoint = 0; checkpoint <= 3; ++checkpoint) {
            if (checkpoint > 0) self.pass(checkpoint);
            const auto [sent, received] = self.engine().exchanged();
            self.expect(sent == 0 && received == 0, "messages of before count");
            self.exchange(2 * (checkpoint + 1));
            const auto after = self.engine().exchanged();
            self.expect(after.sent == 6 && after.received == 6,
                        fmt::format("{} were sent and {} received", after.sent, after.received));
          }
        }) == "");
}

TEST_CASE("checkpoint engine: the logs of before the first checkpoint stay, those between two are given back",
          "[mpi]") {
  CHECK(run([](Member& self) {
          const auto expect_logs = [&self](std::uint32_t checkpoint, bool are_there) {
            self.expect(self.has_log(message_log_key(self.peer(), checkpoint)) == are_there,
                        fmt::format("the message log of {}", checkpoint));
            self.expect(self.has_log(coll::collective_log_key(1, 0, checkpoint)) == are_there,
                        fmt::format("the collective log of {}", checkpoint));
          };
          self.exchange(2);
          self.pass(1);
          self.exchange(4);
          expect_logs(0, true);
          expect_logs(1, true);
          self.pass(2);
          self.exchange(6);
          expect_logs(0, true);
          expect_logs(1, false);
          expect_logs(2, true);
          self.pass(3);
          expect_logs(0, true);
          expect_logs(2, false);
          self.barrier();
        }) == "");
}

TEST_CASE("checkpoint engine: memory for histories does not grow with the number of checkpoints", "[mpi]") {
  CHECK(run([](Member& self) {
          std::uint64_t used = 0;
          for (std::uint32_t checkpoint = 1; checkpoint <= 40; ++checkpoint) {
            self.pass(checkpoint);
            self.exchange(2 * checkpoint);
            if (checkpoint == 3) used = self.world().arena().reading().log_count();
          }
          self.expect(self.world().arena().reading().log_count() <= used + 2, "logs are left");
        }) == "");
}

TEST_CASE("checkpoint engine: a message that nobody has received is counted as sent only", "[mpi]") {
  CHECK(run([](Member& self) {
          if (self.rank() == 0) self.send(100, 2);
          self.barrier();
          const auto before = self.engine().exchanged();
          self.expect(before.sent == (self.rank() == 0 ? 1 : 0), "sent");
          self.expect(before.received == 0, "received");
          if (self.rank() == 1) self.receive(100, 2, 0);
          self.expect(self.engine().exchanged().received == (self.rank() == 1 ? 1 : 0), "received later");
          self.barrier();
        }) == "");
}

TEST_CASE(
    "checkpoint engine: a rank that dies behind a checkpoint repeats what lies before the first and behind "
    "that",
    "[mpi]") {
  // Where rank 1 dies: behind the checkpoint at once, or after so much of what follows.
  const int death = GENERATE(0, 1, 2, 3, 4);
  const std::uint32_t checkpoint = GENERATE(1, 2, 3);
  CAPTURE(death, checkpoint);
  CHECK(run([death, checkpoint](Member& self) {
          const auto dies = [&](int place) {
            if (self.rank() == 1 && self.is_first() && place == death) throw Death{};
          };
          self.exchange(2);
          const std::uint32_t last = self.engine().determinants().goes_on_from();
          self.expect(last == (self.is_first() ? 0 : checkpoint), fmt::format("it goes on from {}", last));
          for (std::uint32_t each = last == 0 ? 1 : last; each <= checkpoint; ++each) {
            self.pass(each);
            if (each < checkpoint) self.exchange(2 + 2 * each);
          }
          dies(0);
          if (self.rank() == 1) self.send(1000, 51);
          dies(1);
          if (self.rank() == 0) self.receive(1000, 51, MPI_ANY_SOURCE);
          if (self.rank() == 0) self.send(70'000, 52);
          if (self.rank() == 1) self.receive(70'000, 52, MPI_ANY_SOURCE);
          dies(2);
          self.barrier();
          dies(3);
          self.exchange(60);
          dies(4);
          const auto all = self.engine().exchanged();
          self.expect(all.sent == 7 && all.received == 7,
                      fmt::format("{} were sent and {} received", all.sent, all.received));
          // The next one, for all.
          self.pass(checkpoint + 1);
          self.exchange(70);
        }) == "");
}

TEST_CASE("checkpoint engine: a replacement that sends something else behind the checkpoint is found",
          "[mpi]") {
  const std::string ended = run([](Member& self) {
    self.exchange(2);
    self.pass(1);
    if (self.rank() == 0) return;
    self.send(100, self.is_first() ? 51 : 53);
    if (self.is_first()) throw Death{};
  });
  CHECK(ended.find("replay diverged: rank 1 (incarnation 2): ") != std::string::npos);
}
