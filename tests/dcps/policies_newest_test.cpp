// Writers that keep the newest samples alone and never wait: KEEP_LAST, which is the default, and
// BEST_EFFORT.
#include <algorithm>
#include <sstream>

#include "peer.hpp"

namespace llamada::dcps::test {
namespace {

/// The samples of a text, sorted: instances come in no particular order.
std::string sorted(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string each; in >> each;) words.push_back(each);
  std::sort(words.begin(), words.end());
  return fmt::format("{}", fmt::join(words, " "));
}

std::vector<std::int32_t> values_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::int32_t> values;
  for (std::string each; in >> each;) values.push_back(std::stoi(each.substr(each.find(':') + 1)));
  return values;
}

/// Takes until the sample `last` has come.
std::string take_through(Peer& peer, const std::string& reader, const std::string& last) {
  std::string all;
  REQUIRE(eventually([&] {
    const std::string more = peer.ask("take " + reader);
    if (!more.empty()) all += (all.empty() ? "" : " ") + more;
    return (' ' + all + ' ').find(' ' + last + ' ') != all.npos;
  }));
  return all;
}

Policies newest() {
  Policies policies;
  policies.writer = qos::DataWriterQos{};
  return policies;
}

Policies newest_for_late_joiners(std::int32_t depth) {
  Policies policies = newest();
  policies.writer.history.depth = depth;
  policies.writer.durability.kind = policies.reader.durability.kind = qos::DurabilityKind::transient_local;
  return policies;
}

Policies coherent(Policies policies) {
  policies.publisher.presentation = {qos::PresentationAccessScope::topic, true, true};
  policies.subscriber.presentation = policies.publisher.presentation;
  return policies;
}

TEST_CASE(
    "HISTORY: a writer with the default QoS (KEEP_LAST 1) keeps the newest of each instance for who is late",
    "[dcps]") {
  const auto [depth, expected] =
      GENERATE(table<std::int32_t, std::string>({{1, "-D 1:5 2:7"}, {3, "-D 1:3 1:4 1:5 2:7 3:1 3:2"}}));
  World world;
  const Policies policies = newest_for_late_joiners(depth);
  Peer peer(world.socket_name());
  peer.make_writer("w", policies);
  peer.write("w", 1, 1, 5);
  peer.write("w", 2, 7);
  peer.write("w", 3, 1, 2);
  (void)peer.ask("dispose w 3");
  auto reader = world.reader(policies);
  REQUIRE(reader->wait_for_historical_data(watchdog));
  CHECK(sorted(take_text(*reader)) == expected);
  CHECK(reader->sample_lost_status().total_count == 0);  // what was replaced was never theirs
  peer.write("w", 3, 8);
  CHECK(take_until(*reader, "3:8") == "3:8");
}

TEST_CASE("HISTORY: a writer that keeps the newest waits for no reader, however it stands still", "[dcps]") {
  World world;
  Policies policies = newest();
  policies.writer.resource_limits.max_samples = 4;
  policies.writer.reliability.max_blocking_time = 0s;
  SECTION("KEEP_LAST for a RELIABLE reader that keeps the last") { policies.reader.history = {}; }
  SECTION("KEEP_LAST for a RELIABLE reader that keeps all") {}
  SECTION("KEEP_LAST for a BEST_EFFORT reader") {
    policies.reader.reliability.kind = qos::ReliabilityKind::best_effort;
  }
  SECTION("BEST_EFFORT") {
    policies.reader.reliability.kind = qos::ReliabilityKind::best_effort;
    policies.writer.reliability.kind = qos::ReliabilityKind::best_effort;
    policies.writer.history.kind = qos::HistoryKind::keep_all;
  }
  Peer peer(world.socket_name());
  peer.make_reader("r", policies);
  auto writer = world.writer(policies);
  await_matched(*writer);
  REQUIRE(eventually([&] { return peer.ask("matched r") == "1"; }));
  peer.stop();
  constexpr std::int32_t last = 3000;
  for (std::int32_t value = 1; value <= last; ++value) REQUIRE(writer->write(reading(1, value)));
  peer.go_on();
  const auto values = values_of(take_through(peer, "r", fmt::format("1:{}", last)));
  CHECK(std::is_sorted(values.begin(), values.end(), std::less_equal<>()));
}

TEST_CASE("RELIABILITY: of what a BEST_EFFORT reader does not get the losses are counted", "[dcps]") {
  World world;
  Policies policies = newest();
  policies.writer.reliability.kind =
      GENERATE(qos::ReliabilityKind::best_effort, qos::ReliabilityKind::reliable);
  policies.reader.reliability.kind = qos::ReliabilityKind::best_effort;
  Peer peer(world.socket_name());
  peer.make_reader("r", policies);
  auto writer = world.writer(policies);
  await_matched(*writer);
  REQUIRE(eventually([&] { return peer.ask("matched r") == "1"; }));
  REQUIRE(writer->write(reading(1, 1)));
  (void)take_through(peer, "r", "1:1");
  peer.stop();
  constexpr std::int32_t last = 5000;  // far more than a writer leaves readable
  for (std::int32_t value = 2; value <= last; ++value) REQUIRE(writer->write(reading(1, value)));
  peer.go_on();
  const auto values = values_of(take_through(peer, "r", fmt::format("1:{}", last)));
  const auto lost = std::stoll(peer.ask("lost r"));
  CHECK(lost > 0);
  CHECK(1 + static_cast<std::int64_t>(values.size()) + lost == last);
}

TEST_CASE("PRESENTATION: of coherent sets that are replaced each is seen whole, or not at all", "[dcps]") {
  World world;
  Policies policies = coherent(newest());
  policies.reader.history = {};  // the newest of each instance: both of one set
  Peer peer(world.socket_name());
  peer.make_writer("w", policies);
  auto reader = world.reader(policies);
  await_matched(*reader);
  peer.await_matched("w");
  constexpr std::int32_t last = 2000;
  (void)peer.ask(fmt::format("write_sets w 1 {}", last));
  std::string seen;
  REQUIRE(eventually([&] {
    const auto samples = reader->read();
    REQUIRE(samples);
    if (samples->empty()) return false;
    const auto values = values_of(text_of(*samples));
    REQUIRE(values.size() == 2);
    CHECK(values[0] == values[1]);
    return values[0] == last;
  }));
}

TEST_CASE("PRESENTATION: a stopped reader of coherent sets gets the newest set whole when it goes on",
          "[dcps]") {
  World world;
  Policies policies = coherent(newest());
  policies.reader.reliability.kind =
      GENERATE(qos::ReliabilityKind::best_effort, qos::ReliabilityKind::reliable);
  Peer peer(world.socket_name());
  peer.make_reader("r", policies);
  auto writer = world.writer(policies);
  await_matched(*writer);
  REQUIRE(eventually([&] { return peer.ask("matched r") == "1"; }));
  peer.stop();
  constexpr std::int32_t last = 2000;
  const auto publisher = writer->publisher();
  for (std::int32_t value = 1; value <= last; ++value) {
    REQUIRE(publisher->begin_coherent_changes());
    for (std::int32_t sensor : {1, 2}) REQUIRE(writer->write(reading(sensor, value)));
    REQUIRE(publisher->end_coherent_changes());
  }
  peer.go_on();
  const auto values = values_of(take_through(peer, "r", fmt::format("2:{}", last)));
  REQUIRE(values.size() % 2 == 0);
  for (std::size_t k = 0; k < values.size(); k += 2) CHECK(values[k] == values[k + 1]);
}

TEST_CASE("PRESENTATION: who is late gets the coherent sets of which nothing was replaced", "[dcps]") {
  World world;
  Policies policies = coherent(newest_for_late_joiners(1));
  policies.writer.resource_limits = {.max_samples = 5, .max_instances = 5, .max_samples_per_instance = 1};
  Peer peer(world.socket_name());
  peer.make_writer("w", policies);
  const auto write_set = [&](std::initializer_list<std::int32_t> sensors, std::int32_t value) {
    (void)peer.ask("begin w");
    for (const std::int32_t sensor : sensors) peer.write("w", sensor, value);
    (void)peer.ask("end w");
  };
  write_set({1, 2}, 1);
  write_set({3, 4}, 2);
  write_set({5}, 3);
  write_set({1}, 4);  // the first set is not whole any more
  auto reader = world.reader(policies);
  REQUIRE(reader->wait_for_historical_data(watchdog));
  CHECK(sorted(take_text(*reader)) == "1:4 3:2 4:2 5:3");
  Policies each_alone = policies;
  each_alone.subscriber = {};
  auto other = world.reader(each_alone);
  REQUIRE(other->wait_for_historical_data(watchdog));
  CHECK(sorted(take_text(*other)) == "1:4 2:1 3:2 4:2 5:3");
}

}  // namespace
}  // namespace llamada::dcps::test
