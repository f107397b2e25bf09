// Processes that are killed or hang while others go on.
#include <set>

#include "peer.hpp"

namespace llamada::dcps::test {
namespace {

std::vector<std::int32_t> values_of(const LoanedSamples& samples) {
  std::vector<std::int32_t> values;
  for (const auto& each : samples) {
    if (each.info.valid_data) values.push_back(types::deserialize<Reading>(each.data)->value);
  }
  return values;
}

TEST_CASE("killed: exclusive ownership fails over, and no sample comes twice or out of order", "[dcps]") {
  World world;
  Policies policies;
  policies.writer.ownership.kind = policies.reader.ownership.kind = qos::OwnershipKind::exclusive;
  policies.writer.destination_order.kind = policies.reader.destination_order.kind =
      qos::DestinationOrderKind::by_source_timestamp;
  auto reader = world.reader(policies);
  // Each streams the values of a clock that they share, stamped alike; the strongest is heard, and dies.
  constexpr std::int32_t peer_count = 3;
  std::vector<std::unique_ptr<Peer>> peers;
  const auto start = SystemClock().realtime().count();
  for (std::int32_t k = 0; k < peer_count; ++k) {
    peers.push_back(std::make_unique<Peer>(world.socket_name(), fmt::format("peer-{}", k)));
    policies.writer.ownership_strength.value = peer_count - k;
    peers.back()->make_writer("w", policies);
    peers.back()->await_matched("w");
  }
  for (auto& peer : peers) (void)peer->ask(fmt::format("stream w 1 1000 {}", start));
  std::vector<std::int32_t> values;
  std::set<InstanceHandle> heard;
  const auto take_more = [&](std::size_t count) {
    const std::size_t enough = values.size() + count;
    REQUIRE(eventually([&] {
      const auto samples = reader->take();
      for (const auto& each : *samples) heard.insert(each.info.publication_handle);
      const auto more = values_of(*samples);
      values.insert(values.end(), more.begin(), more.end());
      return values.size() >= enough;
    }));
  };
  take_more(20);
  for (std::int32_t k = 0; k + 1 < peer_count; ++k) {
    peers[static_cast<std::size_t>(k)]->kill();
    await_matched(*reader, static_cast<std::size_t>(peer_count - k - 1));
    take_more(20);
  }
  CHECK(heard.size() >= 2);
  for (std::size_t k = 1; k < values.size(); ++k) {
    INFO("value " << values[k] << " after " << values[k - 1]);
    REQUIRE(values[k] > values[k - 1]);
  }
}

TEST_CASE("killed: an owner that hangs loses the instance with its lease", "[dcps]") {
  World world;
  Policies policies;
  policies.writer.ownership.kind = policies.reader.ownership.kind = qos::OwnershipKind::exclusive;
  policies.writer.liveliness = policies.reader.liveliness = {qos::LivelinessKind::automatic, 2s};
  auto reader = world.reader(policies);
  Peer strong(world.socket_name(), "strong");
  Peer weak(world.socket_name(), "weak");
  policies.writer.ownership_strength.value = 10;
  strong.make_writer("w", policies);
  policies.writer.ownership_strength.value = 5;
  weak.make_writer("w", policies);
  await_matched(*reader, 2);
  strong.write("w", 1, 1);
  CHECK(take_until(*reader, "1:1") == "1:1");
  strong.stop();
  std::int32_t value = 1;
  std::string taken;
  REQUIRE(eventually([&] {
    weak.write("w", 1, ++value);
    taken += take_text(*reader);
    return taken.find(fmt::format("1:{}", value)) != taken.npos;
  }));
  strong.go_on();
}

TEST_CASE("killed: a reader that is killed does not hold its writer, nor the others", "[dcps]") {
  World world;
  Policies policies;
  policies.writer.resource_limits.max_samples = 8;
  auto writer = world.writer(policies);
  auto survivor = std::make_unique<Peer>(world.socket_name(), "survivor");
  Peer victim(world.socket_name(), "victim");
  Policies narrow;
  narrow.reader.resource_limits.max_samples = 1;
  victim.make_reader("r", narrow);
  survivor->make_reader("r", policies);
  await_matched(*writer, 2);
  std::thread killer([&] {
    (void)eventually([&] { return survivor->try_asking("read_count r") != "ok 0"; });
    victim.kill();
  });
  std::string expected;
  for (std::int32_t value = 1; value <= 100; ++value) {
    REQUIRE(writer->write(reading(1, value)));  // waits for the victim until that is gone
    expected += (value > 1 ? " " : "") + fmt::format("1:{}", value);
  }
  killer.join();
  CHECK(survivor->take_until("r", expected) == expected);
  await_matched(*writer, 1);
  CHECK(writer->publication_matched_status().total_count == 2);
  CHECK(writer->wait_for_acknowledgments(watchdog));
}

TEST_CASE("killed: what a writer had written before it was killed is read, and others go on", "[dcps]") {
  World world;
  auto reader = world.reader();
  Peer victim(world.socket_name(), "victim");
  Peer other(world.socket_name(), "other");
  victim.make_writer("w", {});
  other.make_writer("w", {});
  await_matched(*reader, 2);
  victim.await_matched("w");
  victim.write("w", 1, 1, 50);
  victim.kill();
  other.write("w", 2, 1, 50);
  std::vector<std::int32_t> of_victim, of_other;
  REQUIRE(eventually([&] {
    const auto samples = reader->take();
    for (const auto& each : *samples) {
      if (!each.info.valid_data) continue;
      const auto value = types::deserialize<Reading>(each.data);
      (value->sensor == 1 ? of_victim : of_other).push_back(value->value);
    }
    return of_victim.size() == 50 && of_other.size() == 50;
  }));
  for (std::size_t k = 0; k < 50; ++k) {
    CHECK(of_victim[k] == static_cast<std::int32_t>(k) + 1);
    CHECK(of_other[k] == static_cast<std::int32_t>(k) + 1);
  }
  await_matched(*reader, 1);
}

}  // namespace
}  // namespace llamada::dcps::test
