// OWNERSHIP EXCLUSIVE of a topic that is kept, over restarts of its service.
#include "topic_on_disk.hpp"

namespace llamada::service {
namespace {

constexpr Guid third{7, 3};

bool is_absent(const OnDisk& disk, const Guid& writer) {
  const auto absent = disk.keeper->absent_claimants();
  return std::find(absent.begin(), absent.end(), writer) != absent.end();
}

/// The strong `other` has written, and the service starts again.
struct Restarted : OnDisk {
  explicit Restarted(const qos::DurabilityService& policy = all) {
    came(one, exclusive(1, policy));
    came(other, exclusive(2, policy));
    CHECK(take(other, 1));
    CHECK(take(one, 1));
  }
  void restart() {
    write();
    open();
    came(one, exclusive(1));
  }
};

}  // namespace

TEST_CASE("topic ownership: a service that starts again knows who owns an instance", "[service]") {
  Restarted disk;
  disk.restart();
  CHECK(is_absent(disk, other));
  CHECK_FALSE(is_absent(disk, one));
  CHECK(disk.take(one, 2));
  CHECK(disk.take(one, 3, 2));  // another instance, which nobody owns
  disk.write();
  CHECK(disk.text() == "7.2:1 7.1:3");
  disk.keeper->writer_gone(other, true);
  CHECK_FALSE(is_absent(disk, other));
  CHECK(disk.take(one, 4));
  disk.restart();
  CHECK_FALSE(is_absent(disk, other));
  CHECK(disk.text() == "7.2:1 7.1:3 7.1:4");
}

TEST_CASE("topic ownership: after a restart an unregistered instance is the next writer's", "[service]") {
  Restarted disk;
  CHECK(disk.take(other, 2, 1, ChangeKind::unregistered));
  disk.restart();
  CHECK_FALSE(is_absent(disk, other));
  CHECK(disk.take(one, 2));
  disk.write();
  CHECK(disk.text() == "7.2:1 7.1:2");
}

TEST_CASE("topic ownership: the owner stays though nothing of it is kept any more", "[service]") {
  SECTION("its newest sample was replaced by that of a stronger one, which gave up") {
    Restarted disk(newest);
    disk.came(third, exclusive(3, newest));
    CHECK(disk.take(third, 1));
    CHECK(disk.take(third, 2, 1, ChangeKind::unregistered));
    disk.write();
    disk.restart();
    CHECK(disk.text() == "7.3:1");
    CHECK(disk.take(one, 2));
    disk.write();
    CHECK(disk.text() == "7.3:1");
  }
  SECTION("it has disposed of the instance") {
    Restarted disk;
    CHECK(disk.take(other, 2, 1, ChangeKind::disposed));
    disk.restart();
    CHECK(disk.take(one, 2));
    disk.write();
    CHECK(disk.text() == "7.2:1 7.2:2D");
  }
  SECTION("its samples have outlived LIFESPAN") {
    Restarted disk;
    auto qos = exclusive(2);
    qos.datawriter.lifespan.duration = std::chrono::seconds(5);
    disk.came(other, qos);
    disk.clock.now += std::chrono::hours(1);
    (void)disk.keeper->keep_time();
    disk.restart();
    REQUIRE(disk.text().empty());
    CHECK(disk.take(one, 2));
    disk.write();
    CHECK(disk.text().empty());
  }
}

TEST_CASE("topic ownership: the strength that a writer had counts after a restart", "[service]") {
  Restarted disk;
  disk.came(one, exclusive(5));
  disk.keeper->settle_strengths();
  disk.restart();
  // It is weaker now: nobody knows since when, so that both are heard until all from before is read.
  disk.came(other, exclusive(2));
  CHECK(disk.take(one, 2));
  CHECK(disk.take(other, 2));
  disk.keeper->settle_strengths();
  CHECK(disk.take(one, 3));
  CHECK(disk.take(other, 3));
  disk.write();
  CHECK(disk.text() == "7.2:1 7.1:2 7.2:2 7.2:3");
}

TEST_CASE("topic ownership: of equal writers that with the lower EndpointId is heard", "[service]") {
  OnDisk disk;
  constexpr Guid late{1, 1};  // its Guid says nothing
  disk.keeper->writer_came(one, 20, exclusive(1));
  disk.keeper->writer_came(late, 21, exclusive(1));
  CHECK(disk.take(one, 1));
  CHECK(disk.take(late, 1));
  disk.write();
  disk.open();
  disk.keeper->writer_came(late, 21, exclusive(1));
  CHECK(disk.take(late, 2));
  disk.write();
  CHECK(disk.text() == "7.1:1");
}

TEST_CASE("topic ownership: a stronger writer counts only where its readers are all of the weaker one's",
          "[service]") {
  auto strong = exclusive(2);
  bool is_heard = true;
  SECTION("another partition") { strong.publisher.partition.name = {"elsewhere"}; }
  SECTION("one of its partitions") {
    strong.publisher.partition.name = {"elsewhere", ""};
    is_heard = false;
  }
  SECTION("BEST_EFFORT") { strong.datawriter.reliability.kind = qos::ReliabilityKind::best_effort; }
  SECTION("TRANSIENT") { strong.datawriter.durability.kind = qos::DurabilityKind::transient; }
  SECTION("a shorter DEADLINE") {
    strong.datawriter.deadline.period = std::chrono::seconds(1);
    is_heard = false;
  }
  OnDisk disk;
  disk.came(one, exclusive(1));
  disk.came(other, strong);
  CHECK(disk.take(other, 1));
  CHECK(disk.take(one, 1));
  disk.write();
  CHECK(disk.text() == (is_heard ? "7.2:1 7.1:1" : "7.2:1"));
}

TEST_CASE("topic ownership: BY_SOURCE_TIMESTAMP does not keep what an heir says again", "[service]") {
  Restarted disk;
  auto by_source = exclusive(1);
  by_source.datawriter.destination_order.kind = qos::DestinationOrderKind::by_source_timestamp;
  disk.came(one, by_source);
  disk.keeper->writer_gone(other, true);
  CHECK(disk.take(one, 2));  // as old as the last one of the strong writer
  disk.clock.now += 1h;
  CHECK(disk.take(one, 3));
  disk.write();
  CHECK(disk.text() == "7.2:1 7.1:3");
}

TEST_CASE("topic ownership: a writer whose lease is over claims nothing until it writes again", "[service]") {
  Restarted disk;
  disk.keeper->writer_lapsed(other);
  CHECK(disk.take(one, 2));
  CHECK(disk.take(other, 2));
  CHECK(disk.take(one, 3));
  disk.restart();
  CHECK(disk.text() == "7.2:1 7.1:2 7.2:2");
}

TEST_CASE("topic ownership: what late readers must know of the writers", "[service]") {
  Restarted disk;
  CHECK(disk.take(other, 2, 5));
  CHECK(disk.take(one, 2));
  disk.restart();
  const auto judged = disk.keeper->judged([](const Guid&, const qos::EndpointQos&) { return true; });
  REQUIRE(judged.size() == 2);
  CHECK(judged[0].writer == one);
  CHECK(judged[0].through == 2);
  CHECK(judged[0].claimed == std::vector<std::uint64_t>{1});
  CHECK(judged[1].claimed.size() == 2);
}

TEST_CASE("topic ownership: nothing is left of the claims of writers that are gone", "[service]") {
  Restarted disk;
  disk.write();
  const auto items = [&] { return disk.store->streams()[0].items; };
  const auto before = items();
  for (const Guid& writer : {one, other}) disk.keeper->writer_gone(writer, true);
  disk.write();
  CHECK(items() == before - 2);
  disk.open();
  CHECK(disk.keeper->absent_claimants().empty());
}

}  // namespace llamada::service
