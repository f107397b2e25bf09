// Policies of what is kept, at the reader and for those that come late.
#include "peer.hpp"

namespace llamada::dcps::test {
namespace {

TEST_CASE("HISTORY: KEEP_LAST keeps the newest of each instance, KEEP_ALL all", "[dcps]") {
  World world;
  Policies policies;
  policies.reader.history = {qos::HistoryKind::keep_last, 2};
  auto last = world.reader(policies);
  auto all = world.reader();
  Peer peer(world.socket_name());
  peer.make_writer("w", {});
  peer.await_matched("w", 2);
  peer.write("w", 1, 1, 4);
  peer.write("w", 2, 7, 1);
  (void)peer.ask("acknowledged w 60000");
  REQUIRE(eventually([&] { return all->read()->size() == 5; }));
  CHECK(take_text(*all) == "1:1 1:2 1:3 1:4 2:7");
  REQUIRE(eventually([&] { return last->read()->size() == 3; }));
  CHECK(take_text(*last) == "1:3 1:4 2:7");
}

TEST_CASE("DURABILITY: TRANSIENT_LOCAL gives its history to who comes late, VOLATILE does not", "[dcps]") {
  World world;
  Peer peer(world.socket_name());
  Policies policies;
  policies.writer.durability.kind = qos::DurabilityKind::transient_local;
  peer.make_writer("w", policies);
  peer.write("w", 1, 1, 3);
  auto without = world.reader(policies);
  policies.reader.durability.kind = qos::DurabilityKind::transient_local;
  auto with = world.reader(policies);
  REQUIRE(with->wait_for_historical_data(watchdog));
  CHECK(take_text(*with) == "1:1 1:2 1:3");
  peer.await_matched("w", 2);
  peer.write("w", 1, 4);
  CHECK(take_until(*without, "1:4") == "1:4");
  CHECK(take_until(*with, "1:4") == "1:4");
}

TEST_CASE("DURABILITY: a late reader in another process waits for the history of this one", "[dcps]") {
  World world;
  Policies policies;
  policies.writer.durability.kind = policies.reader.durability.kind = qos::DurabilityKind::transient_local;
  auto writer = world.writer(policies);
  for (std::int32_t value = 1; value <= 3; ++value) REQUIRE(writer->write(reading(1, value)));
  Peer peer(world.socket_name());
  peer.make_reader("r", policies);
  (void)peer.ask("history r");
  CHECK(peer.ask("take r") == "1:1 1:2 1:3");
}

}  // namespace
}  // namespace llamada::dcps::test
