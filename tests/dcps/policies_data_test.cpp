// Policies that decide which samples a reader gets, and in which order.
#include "peer.hpp"

namespace llamada::dcps::test {
namespace {

TEST_CASE("RELIABILITY: a RELIABLE writer waits for its reader and then says that it waited in vain",
          "[dcps]") {
  World world;
  Policies policies;
  policies.reader.resource_limits.max_samples = 1;
  policies.writer.resource_limits.max_samples = 4;
  policies.writer.reliability.max_blocking_time = 20ms;
  auto reader = world.reader(policies);
  Peer peer(world.socket_name());
  peer.make_writer("w", policies);
  peer.await_matched("w");
  std::int32_t written = 0;
  std::string answer = "ok";
  while (written < 1000 && answer.substr(0, 2) == "ok") {
    answer = peer.try_asking(fmt::format("write w 1 {} 1 0 -1", written));
    if (answer.substr(0, 2) == "ok") ++written;
  }
  CHECK(answer.substr(0, 13) == "error timeout");
  std::string expected;
  for (std::int32_t value = 0; value < written; ++value)
    expected += (value ? " " : "") + fmt::format("1:{}", value);
  CHECK(take_until(*reader, expected) == expected);
  CHECK(reader->sample_lost_status().total_count == 0);
}

TEST_CASE("RESOURCE_LIMITS: what does not fit is rejected, told, and comes when there is room", "[dcps]") {
  World world;
  Policies policies;
  policies.reader.resource_limits.max_samples_per_instance = 2;
  auto reader = world.reader(policies);
  Peer peer(world.socket_name());
  policies.writer.resource_limits.max_instances = 1;
  peer.make_writer("w", policies);
  peer.await_matched("w");
  peer.write("w", 1, 1, 3);
  SampleRejectedStatus status;
  REQUIRE(eventually([&] { return (status = reader->sample_rejected_status()).total_count > 0; }));
  CHECK(status.last_reason == SampleRejectedKind::rejected_by_samples_per_instance_limit);
  CHECK(status.last_instance_handle == *reader->lookup_instance(reading(1, 0)));
  CHECK(take_until(*reader, "1:1 1:2 1:3") == "1:1 1:2 1:3");
  CHECK(peer.try_asking("write w 2 1 1 0 -1").substr(0, 22) == "error out_of_resources");
}

TEST_CASE("OWNERSHIP: of two processes the stronger is heard, and the weaker when that one is gone",
          "[dcps]") {
  World world;
  Policies policies;
  policies.writer.ownership.kind = policies.reader.ownership.kind = qos::OwnershipKind::exclusive;
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
  weak.write("w", 1, 2);
  (void)weak.ask("acknowledged w 60000");
  strong.write("w", 1, 3);
  CHECK(take_until(*reader, "1:3") == "1:3");
  strong.kill();
  await_matched(*reader, 1);
  weak.write("w", 1, 4);
  CHECK(take_until(*reader, "1:4") == "1:4");
}

TEST_CASE("OWNERSHIP_STRENGTH: a change makes another the owner", "[dcps]") {
  World world;
  Policies policies;
  policies.writer.ownership.kind = policies.reader.ownership.kind = qos::OwnershipKind::exclusive;
  auto reader = world.reader(policies);
  Peer peer(world.socket_name());
  policies.writer.ownership_strength.value = 10;
  peer.make_writer("a", policies);
  policies.writer.ownership_strength.value = 5;
  peer.make_writer("b", policies);
  await_matched(*reader, 2);
  peer.write("a", 1, 1);
  CHECK(take_until(*reader, "1:1") == "1:1");
  policies.writer.ownership_strength.value = 20;
  (void)peer.ask("set_writer_qos b " + writer_words(policies));
  REQUIRE(eventually([&] {
    for (const InstanceHandle& each : reader->matched_publications()) {
      if (reader->matched_publication_data(each)->qos.ownership_strength.value == 20) return true;
    }
    return false;
  }));
  peer.write("b", 1, 2);
  CHECK(take_until(*reader, "1:2") == "1:2");
  peer.write("a", 1, 3);
  (void)peer.ask("acknowledged a 60000");
  peer.write("b", 1, 4);
  CHECK(take_until(*reader, "1:4") == "1:4");
}

TEST_CASE("DESTINATION_ORDER: by source all readers see the order of the sources' clocks", "[dcps]") {
  World world;
  Policies policies;
  policies.writer.destination_order.kind = policies.reader.destination_order.kind =
      qos::DestinationOrderKind::by_source_timestamp;
  auto reader = world.reader(policies);
  Peer first(world.socket_name(), "first");
  Peer second(world.socket_name(), "second");
  first.make_writer("w", policies);
  second.make_writer("w", policies);
  await_matched(*reader, 2);
  first.write("w", 1, 2, 1, 2000);
  second.write("w", 1, 1, 1, 1000);
  second.write("w", 1, 3, 1, 3000);
  REQUIRE(eventually([&] { return reader->read()->size() == 3; }));
  CHECK(take_text(*reader) == "1:1 1:2 1:3");
}

TEST_CASE("TRANSPORT_PRIORITY: what is more urgent is taken first", "[dcps]") {
  World world;
  Peer peer(world.socket_name());
  Policies policies;
  peer.make_reader("r", policies);
  policies.writer.transport_priority.value = 1;
  auto slow = world.writer(policies);
  policies.writer.transport_priority.value = 9;
  auto urgent = world.writer(policies);
  await_matched(*slow);
  await_matched(*urgent);
  REQUIRE(eventually([&] { return peer.ask("matched r") == "2"; }));
  peer.stop();
  for (std::int32_t value : {1, 2}) REQUIRE(slow->write(reading(1, value)));
  for (std::int32_t value : {3, 4}) REQUIRE(urgent->write(reading(1, value)));
  peer.go_on();
  CHECK(peer.take_until("r", "1:3 1:4 1:1 1:2") == "1:3 1:4 1:1 1:2");
}

TEST_CASE("PRESENTATION: a coherent set is seen when it is whole, and never in part", "[dcps]") {
  World world;
  Policies policies;
  policies.publisher.presentation = {qos::PresentationAccessScope::topic, true, true};
  policies.subscriber.presentation = policies.publisher.presentation;
  auto reader = world.reader(policies);
  Peer peer(world.socket_name());
  peer.make_writer("w", policies);
  peer.await_matched("w");
  (void)peer.ask("begin w");
  peer.write("w", 1, 1);
  peer.write("w", 2, 2);
  (void)peer.ask("acknowledged w 60000");
  CHECK(take_text(*reader) == "");
  peer.write("w", 1, 3);
  (void)peer.ask("end w");
  REQUIRE(eventually([&] { return !reader->read()->empty(); }));
  CHECK(take_text(*reader) == "1:1 2:2 1:3");  // in the order of their writing, across instances
  (void)peer.ask("begin w");
  peer.write("w", 1, 4);
  (void)peer.ask("acknowledged w 60000");
  peer.kill();
  REQUIRE(eventually([&] { return reader->sample_lost_status().total_count == 1; }));
  CHECK(take_text(*reader) == "-N -N");
}

TEST_CASE("PRESENTATION: of a group the order is that of its publisher, over several topics", "[dcps]") {
  World world;
  Policies policies;
  policies.publisher.presentation = {qos::PresentationAccessScope::group, true, true};
  policies.subscriber.presentation = policies.publisher.presentation;
  auto subscriber = world.subscriber(policies);
  auto first = world.reader_of(subscriber, policies, "first");
  auto second = world.reader_of(subscriber, policies, "second");
  Peer peer(world.socket_name());
  peer.make_writer("w1", policies, "first");
  peer.add_writer("w2", "w1", policies, "second");
  peer.await_matched("w1");
  peer.await_matched("w2");
  await_matched(*first);
  await_matched(*second);
  (void)peer.ask("begin w1");
  peer.write("w2", 2, 1);
  peer.write("w1", 1, 2);
  peer.write("w2", 2, 3);
  (void)peer.ask("end w1");
  std::string seen;
  REQUIRE(eventually([&] {
    REQUIRE(subscriber->begin_access());
    const auto readers = subscriber->datareaders({.sample = sample_state::not_read});
    for (const auto& reader : *readers) seen += take_text(*reader, {.max_samples = 1}) + ' ';
    REQUIRE(subscriber->end_access());
    return !seen.empty();
  }));
  CHECK(seen == "2:1 1:2 2:3 ");
}

TEST_CASE("WRITER_DATA_LIFECYCLE: unregistering disposes, or does not", "[dcps]") {
  const auto [autodispose, expected] =
      GENERATE(table<bool, std::string>({{true, "1:1 -D"}, {false, "1:1 -N"}}));
  World world;
  auto reader = world.reader();
  Peer peer(world.socket_name());
  Policies policies;
  policies.writer.writer_data_lifecycle.autodispose_unregistered_instances = autodispose;
  peer.make_writer("w", policies);
  peer.await_matched("w");
  peer.write("w", 1, 1);
  (void)peer.ask("unregister w 1");
  CHECK(take_until(*reader, expected) == expected);
}

}  // namespace
}  // namespace llamada::dcps::test
