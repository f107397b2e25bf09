// Policies that depend on time. Nothing here is measured: each waits for what the policy has to bring.
#include "peer.hpp"

namespace llamada::dcps::test {
namespace {

TEST_CASE("DEADLINE: a period without a sample is counted at both ends", "[dcps]") {
  World world;
  Policies policies;
  policies.writer.deadline.period = policies.reader.deadline.period = 20ms;
  auto reader = world.reader(policies);
  Peer peer(world.socket_name());
  peer.make_writer("w", policies);
  peer.await_matched("w");
  CHECK(reader->requested_deadline_missed_status().total_count == 0);
  peer.write("w", 1, 1);
  REQUIRE(eventually([&] { return !reader->read()->empty(); }));
  RequestedDeadlineMissedStatus status;
  REQUIRE(eventually([&] { return (status = reader->requested_deadline_missed_status()).total_count >= 2; }));
  CHECK(status.last_instance_handle == *reader->lookup_instance(reading(1, 0)));
  peer.await_status("w", "deadline", 2);
}

TEST_CASE("LIVELINESS: AUTOMATIC finds a process that hangs, and that it goes on", "[dcps]") {
  World world;
  Policies policies;
  policies.writer.liveliness = policies.reader.liveliness = {qos::LivelinessKind::automatic, 2s};
  auto reader = world.reader(policies);
  Peer peer(world.socket_name());
  peer.make_writer("w", policies);
  peer.await_matched("w");
  await_matched(*reader);
  REQUIRE(eventually([&] { return reader->liveliness_changed_status().alive_count == 1; }));
  peer.write("w", 1, 1);
  CHECK(take_until(*reader, "1:1") == "1:1");
  peer.stop();
  REQUIRE(eventually([&] { return reader->liveliness_changed_status().not_alive_count == 1; }));
  CHECK(take_until(*reader, "-N") == "-N");  // nobody writes the instance
  CHECK(reader->matched_publications().size() == 1);
  peer.go_on();
  CHECK(eventually([&] { return reader->liveliness_changed_status().alive_count == 1; }));
}

TEST_CASE("LIVELINESS: MANUAL kinds live by what is asserted and written", "[dcps]") {
  const auto kind =
      GENERATE(qos::LivelinessKind::manual_by_participant, qos::LivelinessKind::manual_by_topic);
  World world;
  Policies policies;
  policies.writer.liveliness = policies.reader.liveliness = {kind, 100ms};
  auto reader = world.reader(policies);
  Peer peer(world.socket_name());
  peer.make_writer("w", policies);
  peer.await_matched("w");
  peer.await_status("w", "liveliness", 1);  // nobody asserts it
  REQUIRE(eventually([&] { return reader->liveliness_changed_status().not_alive_count == 1; }));
  std::int64_t lost = peer.status("w", "liveliness");
  // It asserts itself until that is seen, which on a busy machine one assertion need not be.
  const std::string assertion =
      kind == qos::LivelinessKind::manual_by_topic ? "assert_writer w" : "assert_participant";
  CHECK(eventually([&] {
    (void)peer.ask(assertion);
    return reader->liveliness_changed_status().alive_count == 1;
  }));
  CHECK(eventually([&] { return reader->liveliness_changed_status().not_alive_count == 1; }));
  peer.await_status("w", "liveliness", lost + 1);
  CHECK(eventually([&] {
    peer.write("w", 1, 1);  // a write is an assertion
    return reader->liveliness_changed_status().alive_count == 1;
  }));
}

TEST_CASE("LIFESPAN: samples that are too old are gone from the reader, and not given to who comes late",
          "[dcps]") {
  World world;
  Policies policies;
  policies.writer.durability.kind = policies.reader.durability.kind = qos::DurabilityKind::transient_local;
  policies.writer.lifespan.duration = 300ms;
  auto reader = world.reader(policies);
  Peer peer(world.socket_name());
  peer.make_writer("short", policies);
  policies.writer.lifespan.duration = qos::duration_infinite;
  peer.make_writer("long", policies);
  peer.await_matched("short");
  peer.await_matched("long");
  peer.write("long", 2, 2);
  peer.write("short", 1, 1);
  const auto expires = SystemClock().realtime() + 300ms;  // or before
  REQUIRE(eventually([&] { return SystemClock().realtime() > expires; }));
  CHECK(eventually([&] { return text_of(*reader->read()) == "2:2"; }));
  CHECK(reader->sample_lost_status().total_count == 0);
  auto late = world.reader(policies);
  REQUIRE(late->wait_for_historical_data(watchdog));
  CHECK(take_text(*late) == "2:2");
  REQUIRE(eventually([&] {
    peer.write("short", 1, 3);
    return take_text(*late).find("1:3") != std::string::npos;  // a young one is seen
  }));
}

TEST_CASE("TIME_BASED_FILTER: of a burst the first comes at once and the last at the end", "[dcps]") {
  World world;
  Policies policies;
  policies.reader.time_based_filter.minimum_separation = 1500ms;
  auto reader = world.reader(policies);
  Peer peer(world.socket_name());
  peer.make_writer("w", policies);
  peer.await_matched("w");
  peer.write("w", 1, 1, 200);
  std::vector<SampleInfo> infos;
  std::string taken;
  REQUIRE(eventually([&] {
    const auto samples = reader->take();
    for (const auto& each : *samples) infos.push_back(each.info);
    taken += text_of(*samples) + ' ';
    return taken.find("1:200") != taken.npos;
  }));
  CHECK(infos.size() < 200);
  CHECK(infos.front().sequence_number == 1);
  CHECK(infos.back().sequence_number == 200);
}

TEST_CASE("READER_DATA_LIFECYCLE: samples of instances without writers are purged", "[dcps]") {
  World world;
  Policies policies;
  policies.reader.reader_data_lifecycle.autopurge_nowriter_samples_delay = 50ms;
  auto purging = world.reader(policies);
  auto keeping = world.reader();
  Peer peer(world.socket_name());
  peer.make_writer("w", policies);
  peer.await_matched("w", 2);
  peer.write("w", 1, 1);
  REQUIRE(eventually([&] { return !purging->read()->empty(); }));
  peer.kill();
  CHECK(eventually([&] { return purging->read()->empty(); }));
  CHECK(take_until(*keeping, "1:1 -N") == "1:1 -N");
}

TEST_CASE("READER_DATA_LIFECYCLE: samples of disposed instances are purged", "[dcps]") {
  World world;
  Policies policies;
  policies.reader.reader_data_lifecycle.autopurge_disposed_samples_delay = 50ms;
  auto reader = world.reader(policies);
  Peer peer(world.socket_name());
  peer.make_writer("w", policies);
  peer.await_matched("w");
  peer.write("w", 1, 1);
  peer.write("w", 2, 2);
  (void)peer.ask("dispose w 1");
  CHECK(eventually([&] { return text_of(*reader->read()) == "2:2"; }));
}

}  // namespace
}  // namespace llamada::dcps::test
