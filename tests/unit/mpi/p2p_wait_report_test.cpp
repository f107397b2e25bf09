#include <thread>

#include "llamada/waits/report_area.hpp"
#include "p2p/engine.hpp"
#include "runtime/runtime.hpp"
#include "test.hpp"
#include "world/in_process.hpp"

// What ranks say of their waits, seen by another rank.

using namespace llamada;
using namespace llamada::mpi;

namespace {

/// One of two ranks, each in a thread of its own.
struct Member {
  explicit Member(InProcessJob& job, int rank) : world(std::move(*job.attach(rank))) {
    objects.add_world(rank, 2, 1, 2);
    objects.comm_world()->set_name("all");
    engine = std::move(*Engine::create(*world, clock));
  }
  Communicator& all() { return *objects.comm_world(); }
  Buffer buffer(std::vector<std::byte>& bytes) const {
    return {bytes.data(), bytes.size(), objects.datatypes.find(MPI_BYTE)};
  }
  void send(int to, int tag) {
    std::vector<std::byte> byte(1);
    engine->send(buffer(byte), to, tag, all(), SendMode::standard);
  }
  void receive(int from, int tag) {
    std::vector<std::byte> byte(1);
    engine->receive(buffer(byte), from, tag, all(), MPI_STATUS_IGNORE);
  }

  std::unique_ptr<World> world;
  Runtime objects;
  SystemClock clock;
  std::unique_ptr<Engine> engine;
};

/// Rank 0 does `waits`; gives what it says when it waits. `goes_on` is what rank 1 does to end that wait.
waits::Report report_of(const std::function<void(Member&)>& waits, const std::function<void(Member&)>& before,
                        const std::function<void(Member&)>& goes_on) {
  InProcessJob::Options options;
  options.size = 2;
  auto job = std::move(*InProcessJob::create(options));
  std::thread first([&] {
    Member member(*job, 0);
    waits(member);
    member.engine->finish();
  });
  Member member(*job, 1);
  before(member);
  std::optional<waits::Report> report;
  const std::uint32_t survey = job->raise_survey();
  while (!report || report->survey != survey) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const log::PeerArena arena = member.world->peer(0);
    if (arena.ready()) report = waits::read_report(arena.header().user);
  }
  goes_on(member);
  member.engine->finish();
  first.join();
  return *report;
}

}  // namespace

TEST_CASE("waits: a rank says which message it waits for, and what has come instead", "[mpi]") {
  const auto report = report_of([](Member& self) { self.receive(1, 5), self.receive(1, 6); },
                                [](Member& self) { self.send(0, 6); }, [](Member& self) { self.send(0, 5); });
  REQUIRE(report.awaited.size() == 1);
  const waits::Awaited& awaited = report.awaited[0];
  CHECK(awaited.kind == waits::Kind::receive);
  CHECK(awaited.peer == 1);
  CHECK(awaited.tag == 5);
  CHECK(awaited.bytes == 1);
  CHECK(awaited.name == "all");
  REQUIRE(report.messages.size() == 1);
  CHECK(report.messages[0].peer == 1);
  CHECK(report.messages[0].tag == 6);
  REQUIRE(report.receives.size() == 1);
  CHECK(report.receives[0].tag == 5);
  CHECK_FALSE(report.is_under_way);
  CHECK_FALSE(report.is_replaying);
  CHECK_FALSE(report.has_other_threads);
  CHECK(report.since_ns > 0);
}

TEST_CASE("waits: a rank that receives from any source names all that may send", "[mpi]") {
  const auto report = report_of([](Member& self) { self.receive(any_source, any_tag); }, [](Member&) {},
                                [](Member& self) { self.send(0, 5); });
  REQUIRE(report.awaited.size() == 1);
  CHECK(report.awaited[0].peer == waits::any_rank);
  CHECK(report.awaited[0].tag == waits::any_tag);
  CHECK(report.awaited[0].ranks.contains(0));
  CHECK(report.awaited[0].ranks.contains(1));
  CHECK_FALSE(report.awaited[0].ranks.contains(2));
}

TEST_CASE("waits: a synchronous send waits for its receiver", "[mpi]") {
  const auto report = report_of(
      [](Member& self) {
        std::vector<std::byte> bytes(8);
        self.engine->send(self.buffer(bytes), 1, 3, self.all(), SendMode::synchronous);
      },
      [](Member&) {},
      [](Member& self) {
        std::vector<std::byte> bytes(8);
        self.engine->receive(self.buffer(bytes), 0, 3, self.all(), MPI_STATUS_IGNORE);
      });
  REQUIRE(report.awaited.size() == 1);
  CHECK(report.awaited[0].kind == waits::Kind::send);
  CHECK(report.awaited[0].peer == 1);
  CHECK(report.awaited[0].bytes == 8);
}

TEST_CASE("waits: who waits for something without a name says so", "[mpi]") {
  std::atomic<bool> over{false};
  const auto report = report_of([&](Member& self) { self.engine->wait_until([&] { return over.load(); }); },
                                [](Member&) {}, [&](Member& self) { over = true, self.world->wake(0); });
  REQUIRE(report.awaited.size() == 1);
  CHECK(report.awaited[0].kind == waits::Kind::other);
}
