#include "p2p/engine.hpp"

#include <functional>
#include <thread>

#include "job_links.hpp"
#include "llamada/base/random.hpp"
#include "nodes.hpp"
#include "profiles.hpp"
#include "runtime/runtime.hpp"
#include "test.hpp"
#include "world/in_process.hpp"

using namespace llamada;
using namespace llamada::mpi;

namespace {

/// A rank in a thread of its own, with real logs.
struct Member {
  Engine& engine;
  Communicator& communicator;
  const Datatype& byte;
  int rank() const { return communicator.rank(); }
  int size() const { return communicator.size(); }
  Buffer buffer(std::vector<std::byte>& bytes) const { return {bytes.data(), bytes.size(), &byte}; }
};

struct Death {};

struct JobOptions {
  int size = 3;
  bool rebuild = false;
  std::int32_t send_window = qos::length_unlimited;
  bool is_near = false;      ///< the ranks are to share memory, whatever ranks_per_node() says
  bool is_in_place = false;  ///< logs are read where they lie, whatever job_links() says
  Engine::Options engine;
};

void live(InProcessJob& job, int rank, const JobOptions& options,
          const std::function<void(Member&)>& program) {
  auto world = job.attach(rank);
  LLAMADA_CHECK(world.has_value());
  Runtime objects;
  objects.add_world(rank, options.size, 1, 2);
  const SystemClock clock;
  Engine::Options engine_options = options.engine;
  engine_options.hook = (*world)->link();
  auto engine = Engine::create(**world, clock, engine_options);
  LLAMADA_CHECK(engine.has_value());
  Member member{**engine, *objects.comm_world(), *objects.datatypes.find(MPI_BYTE)};
  program(member);
  (*engine)->finish();
  (*engine)->wait_until([&] { return (*world)->has_delivered(); });
}

/// Runs the program on each rank; one that throws Death is replaced. Gives what ended a rank otherwise.
std::string run(const JobOptions& options, const std::function<void(Member&)>& program) {
  InProcessJob::Options job_options;
  job_options.size = options.size;
  job_options.ranks_per_node = options.is_near ? 0 : ranks_per_node();
  if (!options.is_in_place) job_options.links = job_links(options.size);
  // Whoever is not woken hangs.
  job_options.sleep_max = std::chrono::hours(1);
  if (options.rebuild) job_options.profile = fault_tolerant();
  job_options.profile.datawriter_qos.send_window = {options.send_window, options.send_window};
  auto job = InProcessJob::create(job_options);
  REQUIRE(job);
  std::mutex mutex;
  std::string ended;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < options.size; ++rank) {
    threads.emplace_back([&, rank] {
      for (;;) {
        try {
          return live(**job, rank, options, program);
        } catch (const Death&) {
        } catch (const RankEnded& end) {
          std::lock_guard lock(mutex);
          ended = end.text;
          return;
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  return ended;
}

std::vector<std::byte> make_bytes(std::size_t size, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::byte> bytes(size);
  for (auto& byte : bytes) byte = static_cast<std::byte>(random.next());
  return bytes;
}

/// Round the ring in all modes, at sizes on both sides of the eager limit. Gives false when something
/// differs.
bool ring(Member& self, int rounds) {
  bool right = true;
  const int next = (self.rank() + 1) % self.size(), before = (self.rank() + self.size() - 1) % self.size();
  static constexpr std::size_t sizes[] = {0, 1, 8, 48, 49, 1000, 65536, 65537, 300000};
  for (int round = 0; round < rounds; ++round) {
    const std::size_t size = sizes[static_cast<std::size_t>(round) % std::size(sizes)];
    auto out = make_bytes(size, static_cast<std::uint64_t>(round * 100 + self.rank()));
    std::vector<std::byte> in(size);
    Request receive, send;
    receive.kind = Request::Kind::receive;
    receive.buffer = self.buffer(in);
    receive.communicator = send.communicator = &self.communicator;
    receive.peer = round % 3 ? before : MPI_ANY_SOURCE;
    receive.tag = send.tag = round;
    send.kind = Request::Kind::send;
    send.mode = round % 2 ? SendMode::synchronous : SendMode::standard;
    send.buffer = self.buffer(out);
    send.peer = next;
    self.engine.start(receive);
    self.engine.start(send);
    self.engine.wait(send);
    self.engine.wait(receive);
    right = right && in == make_bytes(size, static_cast<std::uint64_t>(round * 100 + before)) &&
            receive.status_source == before && receive.status_bytes == size;
  }
  return right;
}

}  // namespace

TEST_CASE("point-to-point: threads exchange messages of all sizes in all modes") {
  for (const bool rebuild : {false, true}) {
    std::atomic<int> wrong{0};
    JobOptions options;
    options.rebuild = rebuild;
    options.engine.log_bytes_max = 64 * 1024;
    CHECK(run(options, [&](Member& self) { wrong += !ring(self, 60); }) == "");
    CHECK(wrong == 0);
  }
}

TEST_CASE("point-to-point: ranks at their SEND_WINDOW wait, and free each other") {
  for (const bool rebuild : {false, true})
    for (const std::int32_t window : {1, 3}) {
      std::atomic<int> wrong{0}, counted{0};
      JobOptions options;
      options.rebuild = rebuild;
      options.send_window = window;
      CHECK(run(options, [&](Member& self) {
              // Rank 0 counts what is over while the others take nothing.
              std::vector<std::byte> bytes(8), in(8);
              Request sends[8];
              if (self.rank() == 0) {
                int over = 0;
                for (Request& send : sends) {
                  send.kind = Request::Kind::send;
                  send.communicator = &self.communicator;
                  send.buffer = self.buffer(bytes);
                  send.peer = 1;
                  send.tag = 1000;
                  self.engine.start(send);
                  over += send.complete;
                }
                wrong += over != window;
              }
              ++counted;
              while (counted < self.size()) std::this_thread::yield();
              if (self.rank() == 1)
                for (int i = 0; i < 8; ++i)
                  self.engine.receive(self.buffer(in), 0, 1000, self.communicator, MPI_STATUS_IGNORE);
              if (self.rank() == 0)
                for (Request& send : sends) self.engine.wait(send);
              // All send all before they receive any.
              for (int i = 0; i < 50; ++i)
                for (int to = 0; to < self.size(); ++to)
                  self.engine.send(self.buffer(bytes), to, i, self.communicator, SendMode::standard);
              for (int i = 0; i < 50; ++i)
                for (int from = 0; from < self.size(); ++from)
                  self.engine.receive(self.buffer(in), from, i, self.communicator, MPI_STATUS_IGNORE);
              wrong += !ring(self, 20);
            }) == "");
      CHECK(wrong == 0);
    }
}

TEST_CASE("point-to-point: who asks again and again finds what comes, and lets others go first") {
  JobOptions options;
  options.is_in_place = true;  // it counts looks at what has been sent, which a link has yet to carry
  std::atomic<int> sent{0}, asked{0};
  const auto await = [](std::atomic<int>& turn, int value) {
    while (turn < value) std::this_thread::yield();
  };
  CHECK(run(options, [&](Member& self) {
          std::vector<std::byte> bytes(8), in(8);
          if (self.rank() > 0) {
            await(asked, self.rank() - 1);
            self.engine.send(self.buffer(bytes), 0, 0, self.communicator, SendMode::standard);
            sent = self.rank();
            return;
          }
          // Of a rank whose first message it is, beside one that has sent before, too.
          for (int source = 1; source <= 2; ++source) {
            await(sent, source);
            int asks = 1;
            while (!self.engine.probe(self.communicator.context(), source, 0) && asks < 1000) {
              if (!self.engine.is_nothing_new()) self.engine.found_nothing();
              ++asks;
            }
            CHECK(asks <= 66);
            self.engine.receive(self.buffer(in), source, 0, self.communicator, MPI_STATUS_IGNORE);
            self.engine.found_something();
            int slow = 0;
            for (int i = 0; i < 96; ++i) {
              if (self.engine.is_nothing_new()) continue;
              ++slow;
              CHECK(i % 32 == 31);
              self.engine.found_nothing();
            }
            CHECK(slow == 3);
            asked = source;
          }
        }) == "");
}

TEST_CASE("point-to-point: a sender far ahead waits for room and loses nothing") {
  std::atomic<int> wrong{0};
  JobOptions options;
  options.size = 2;
  options.engine.log_bytes_max = 4096;
  CHECK(run(options, [&](Member& self) {
          constexpr int messages = 5000;
          for (int i = 0; i < messages; ++i) {
            std::vector<std::byte> bytes = make_bytes(8, static_cast<std::uint64_t>(i)), in(8);
            if (self.rank() == 0) {
              self.engine.send(self.buffer(bytes), 1, i % 2, self.communicator, SendMode::standard);
            } else {
              self.engine.receive(self.buffer(in), 0, i % 2, self.communicator, MPI_STATUS_IGNORE);
              wrong += in != bytes;
            }
          }
        }) == "");
  CHECK(wrong == 0);
}

TEST_CASE("point-to-point: room that came before a sender falls asleep is seen") {
  JobOptions options;
  options.size = 2;
  options.engine.log_bytes_max = 4096;
  options.engine.yields_before_sleep = 0;
  options.is_in_place = true;  // it waits outside MPI, where no link is carried
  constexpr int messages = 1000;
  std::atomic<int> sending{0}, received{0};
  CHECK(run(options, [&](Member& self) {
          std::vector<std::byte> byte(1);
          if (self.rank() == 0) {
            // Between its last look and its sleep all is taken, and the wake-up is over.
            self.engine.on_progress([&] {
              while (received < sending) std::this_thread::yield();
            });
            for (; sending < messages; ++sending)
              self.engine.send(self.buffer(byte), 1, 0, self.communicator, SendMode::standard);
          } else {
            for (; received < messages; ++received)
              self.engine.receive(self.buffer(byte), 0, 0, self.communicator, MPI_STATUS_IGNORE);
          }
        }) == "");
  CHECK(received == messages);
}

TEST_CASE("point-to-point: a receiver goes on copying while its sender is elsewhere") {
  std::atomic<int> wrong{0};
  JobOptions options;
  options.size = 2;
  options.is_near = true;
  options.engine.yields_before_sleep = 0;
  const auto bytes = make_bytes(3'000'000, 1);
  std::atomic<bool> received{false};
  CHECK(run(options, [&](Member& self) {
          if (self.rank() == 0) {
            auto out = bytes;
            Request send;
            send.kind = Request::Kind::send;
            send.buffer = self.buffer(out);
            send.communicator = &self.communicator;
            send.peer = 1;
            send.tag = 0;
            self.engine.start(send);
            while (!received) std::this_thread::yield();
            self.engine.wait(send);
          } else {
            std::vector<std::byte> in(bytes.size());
            self.engine.receive(self.buffer(in), 0, 0, self.communicator, MPI_STATUS_IGNORE);
            wrong += in != bytes;
            received = true;
          }
        }) == "");
  CHECK(wrong == 0);
}

TEST_CASE("point-to-point: ranks that die are replaced while the others go on") {
  std::atomic<int> wrong{0}, deaths{0}, lives[3] = {0, 0, 0};
  JobOptions options;
  options.rebuild = true;
  CHECK(run(options, [&](Member& self) {
          const int life = lives[self.rank()]++;
          if (life < 2 + self.rank()) {
            ring(self, 7 + 11 * life);
            ++deaths;
            throw Death{};
          }
          wrong += !ring(self, 60);
        }) == "");
  CHECK(wrong == 0);
  CHECK(deaths == 9);
}

// Rank 1 waits for each message while rank 0 copies it into its log, changes its buffer right after, and
// sends the next.
TEST_CASE("point-to-point: large messages that are kept arrive whole, whoever copies them") {
  std::atomic<int> wrong{0};
  std::atomic<int> lives{0};
  JobOptions options;
  options.size = 2;
  options.rebuild = true;
  const std::string ended = run(options, [&](Member& self) {
    const int life = self.rank() == 0 ? lives++ : 0;
    constexpr std::size_t size = 2 * RouteLimits::shown_bytes_min + 77;
    std::vector<std::byte> bytes(size);
    for (int i = 0; i < 12; ++i) {
      const auto filled = static_cast<std::byte>(i + 1);
      const bool named = i % 4 != 3;
      if (self.rank() == 0) {
        if (life == 0 && i == 7) throw Death{};
        std::fill(bytes.begin(), bytes.end(), filled);
        self.engine.send(self.buffer(bytes), 1, 3, self.communicator,
                         i % 3 == 2 ? SendMode::synchronous : SendMode::standard);
        std::fill(bytes.begin(), bytes.end(), std::byte{0});
      } else {
        self.engine.receive(self.buffer(bytes), named ? 0 : MPI_ANY_SOURCE, 3, self.communicator,
                            MPI_STATUS_IGNORE);
        wrong += !std::all_of(bytes.begin(), bytes.end(), [&](std::byte byte) { return byte == filled; });
      }
    }
  });
  CHECK(ended == "");
  CHECK(wrong == 0);
  CHECK(lives == 2);
}

// To and fro: who sends has mostly a receiver that waits, and copies while it is found out whether the
// content is what it was.
TEST_CASE("point-to-point: what is sent again arrives as it is, whatever has changed") {
  for (const bool rebuild : {false, true}) {
    std::atomic<int> wrong{0};
    JobOptions options;
    options.size = 2;
    options.rebuild = rebuild;
    const std::string ended = run(options, [&](Member& self) {
      constexpr std::size_t sizes[] = {RouteLimits::shown_bytes_min, 100'001, 256 << 10};
      std::vector<std::vector<std::byte>> out;  // of both ranks, as each knows them
      for (std::size_t i = 0; i < 2 * std::size(sizes); ++i) out.push_back(make_bytes(sizes[i / 2], i));
      std::vector<std::byte> in(sizes[2]);
      Random random(rebuild);
      for (int round = 0; round < 150; ++round) {
        const auto choice = random.next();
        const std::size_t size_index = choice % 8 < 6 ? 0 : choice % 8 - 5;
        for (std::size_t owner = 0; owner < 2; ++owner) {
          auto& bytes = out[2 * size_index + owner];
          const auto change = random.next();
          if (change % 4 == 0) bytes[change / 4 % bytes.size()] ^= std::byte{1};
          if (change % 16 == 1) std::fill(bytes.begin(), bytes.end(), static_cast<std::byte>(change / 16));
        }
        auto& own = out[2 * size_index + static_cast<std::size_t>(self.rank())];
        const auto& others = out[2 * size_index + 1 - static_cast<std::size_t>(self.rank())];
        const int source = choice / 8 % 4 == 0 ? MPI_ANY_SOURCE : 1 - self.rank();
        if (self.rank() == 0) self.engine.send(self.buffer(own), 1, 3, self.communicator, SendMode::standard);
        self.engine.receive(self.buffer(in), source, 3, self.communicator, MPI_STATUS_IGNORE);
        wrong += !std::equal(others.begin(), others.end(), in.begin());
        if (self.rank() == 1) self.engine.send(self.buffer(own), 0, 3, self.communicator, SendMode::standard);
      }
    });
    CHECK(ended == "");
    CHECK(wrong == 0);
  }
}

TEST_CASE("replay: a replacement that sends something else ends the job with one sentence") {
  std::atomic<int> lives{0};
  JobOptions options;
  options.size = 2;
  options.rebuild = true;
  const std::string ended = run(options, [&](Member& self) {
    if (self.rank() == 1) {
      // Does not wait for rank 0, which will not come to an end.
      return;
    }
    std::vector<std::byte> bytes(100);
    bytes[17] = static_cast<std::byte>(lives.load());
    self.engine.send(self.buffer(bytes), 1, 7, self.communicator, SendMode::standard);
    if (lives++ == 0) throw Death{};
  });
  CHECK(ended ==
        "replay diverged: rank 0 (incarnation 2): message 1 to rank 1, tag 7, communicator 1: byte 17 of 100 "
        "differs from "
        "what its predecessor sent; the program is not deterministic beyond what is recorded (uninitialised "
        "memory, "
        "threads, rdtsc, files that have changed, ...)");
}

TEST_CASE("replay: a replacement that sends less than its predecessor ends the job with one sentence") {
  std::atomic<int> lives{0};
  JobOptions options;
  options.size = 1;
  options.rebuild = true;
  const std::string ended = run(options, [&](Member& self) {
    if (lives++ > 0) return;
    std::vector<std::byte> bytes(3);
    self.engine.send(self.buffer(bytes), 0, 7, self.communicator, SendMode::standard);
    throw Death{};
  });
  CHECK(ended.find("message 1 to rank 0, tag 7, communicator 1 is still to be repeated") !=
        std::string::npos);
}
