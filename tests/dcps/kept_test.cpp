// TRANSIENT and PERSISTENT topics, with the persistence service as a process of its own.
#include <signal.h>

#include <filesystem>
#include <fstream>

#include "kept_world.hpp"

namespace llamada::dcps::test {
namespace {

TEST_CASE("kept: a late reader gets what a killed writer has written, also after the service was killed",
          "[kept]") {
  const auto kind = GENERATE(qos::DurabilityKind::transient, qos::DurabilityKind::persistent);
  KeptWorld kept_world;
  kept_world.service().start();
  Peer writer(kept_world.world().socket_name(), "writer");
  writer.make_writer("w", kept(kind));
  writer.write("w", 1, 1, 10);
  await_acknowledged(writer);
  // Nothing acknowledges the samples of TRANSIENT writers.
  REQUIRE(eventually([&] { return !stored_readings(kept_world.store, 1, 10).empty(); }));
  writer.kill();
  const std::string all = counted(10) + " -N";
  CHECK(kept_world.past(kept(kind)) == all);
  kept_world.restart_all();
  CHECK(kept_world.past(kept(kind)) == all);
  kept_world.restart_service();
  CHECK(kept_world.past(kept(kind)) == all);
  CHECK(kept_world.service().end() == 0);
  kept_world.service().start();
  CHECK(kept_world.past(kept(kind)) == all);
}

TEST_CASE("kept: a reader that asks for less than TRANSIENT gets nothing of the past", "[kept]") {
  KeptWorld kept_world;
  kept_world.service().start();
  write_and_end(kept_world.world(), 3);
  CHECK(kept_world.past(kept(qos::DurabilityKind::transient_local)).empty());
  // A PERSISTENT writer satisfies a TRANSIENT reader.
  CHECK(kept_world.past(kept(qos::DurabilityKind::transient)).starts_with(counted(3)));
}

TEST_CASE("kept: DURABILITY_SERVICE KEEP_LAST keeps the newest of each instance, over all writers",
          "[kept]") {
  KeptWorld kept_world;
  kept_world.service().start();
  const Policies policies = kept(qos::DurabilityKind::persistent, 2);
  Peer one(kept_world.world().socket_name(), "one");
  Peer other(kept_world.world().socket_name(), "other");
  for (Peer* peer : {&one, &other}) peer->make_writer("w", policies);
  one.write("w", 1, 1, 5);
  one.write("w", 2, 1, 1);
  await_acknowledged(one);
  other.write("w", 1, 6, 1);
  await_acknowledged(other);
  for (Peer* peer : {&one, &other}) peer->kill();
  for (int restarts = 0; restarts < 3; ++restarts) {
    const std::string past = kept_world.past(policies);
    CHECK(past == "1:5 1:6 -N 2:1 -N");
    kept_world.restart_all();
  }
}

TEST_CASE("kept: a restarted service keeps nothing twice that a living writer still has", "[kept]") {
  KeptWorld kept_world;
  kept_world.service().start();
  const Policies policies = kept(qos::DurabilityKind::persistent, 1);
  Peer one(kept_world.world().socket_name(), "one");
  Peer other(kept_world.world().socket_name(), "other");
  for (Peer* peer : {&one, &other}) peer->make_writer("w", policies);
  one.write("w", 1, 1, 5);
  await_acknowledged(one);
  other.write("w", 1, 6, 1);
  await_acknowledged(other);
  kept_world.restart_service();
  one.await_matched("w");
  other.await_matched("w");
  for (Peer* peer : {&one, &other}) peer->kill();
  kept_world.restart_all();
  CHECK(kept_world.past(policies) == "1:6 -N");
}

TEST_CASE("kept: a late reader gets the past once, then what the living writer writes, and no state between",
          "[kept]") {
  KeptWorld kept_world;
  kept_world.service().start();
  const Policies policies = kept();
  auto writer = kept_world.world().writer(policies);
  for (std::int32_t value = 1; value <= 5; ++value) REQUIRE(writer->write(reading(1, value)));
  REQUIRE(writer->wait_for_acknowledgments(watchdog));
  Peer peer(kept_world.world().socket_name(), "late");
  peer.make_reader("r", policies);
  (void)peer.ask("history r");
  for (std::int32_t value = 6; value <= 8; ++value) REQUIRE(writer->write(reading(1, value)));
  CHECK(peer.take_until("r", counted(8)) == counted(8));
  // A service that comes again gives this reader all, and none of it comes twice.
  kept_world.restart_service();
  (void)peer.ask("history r");
  REQUIRE(writer->write(reading(1, 9)));
  CHECK(peer.take_until("r", "1:9") == "1:9");
}

TEST_CASE("kept: a reader that waits when its service is killed gets the past of the next one", "[kept]") {
  KeptWorld kept_world;
  kept_world.service().start();
  write_and_end(kept_world.world(), 10);
  kept_world.service().send(SIGSTOP);
  auto reader = kept_world.world().reader(kept());
  CHECK(reader->wait_for_historical_data(200ms).error().text().find(
            "persistence service has not given all") != std::string::npos);
  kept_world.restart_service();
  REQUIRE(reader->wait_for_historical_data(watchdog));
  CHECK(take_text(*reader).starts_with(counted(10)));
}

TEST_CASE("kept: a reader that has taken a part when its service ends gets the rest of the next one",
          "[kept]") {
  KeptWorld kept_world;
  kept_world.service().start();
  write_and_end(kept_world.world(), 10);
  Policies policies = kept();
  policies.reader.resource_limits.max_samples = 4;
  auto reader = kept_world.world().reader(policies);
  REQUIRE(eventually([&] { return reader->read()->size() == 4; }));
  CHECK(kept_world.service().end() == 0);
  CHECK(reader->wait_for_historical_data(100ms).error().code() == Errc::timeout);
  kept_world.service().start();
  CHECK(take_until(*reader, counted(10) + " -N") == counted(10) + " -N");
}

TEST_CASE("kept: disposed instances are told for service_cleanup_delay, and then forgotten", "[kept]") {
  KeptWorld kept_world;
  kept_world.service().start();
  Policies policies = kept(qos::DurabilityKind::persistent, 1);
  policies.writer.durability_service.service_cleanup_delay = qos::duration_infinite;
  Peer writer(kept_world.world().socket_name(), "writer");
  writer.make_writer("w", policies);
  writer.write("w", 1, 1);
  writer.write("w", 2, 1);
  (void)writer.ask("dispose w 1");
  await_acknowledged(writer);
  CHECK(kept_world.past(policies) == "1:1 -D 2:1");
  policies.writer.durability_service.service_cleanup_delay = 0s;
  writer.make_writer("short", policies, "others");
  writer.write("short", 1, 1);
  writer.write("short", 2, 1);
  (void)writer.ask("dispose short 1");
  await_acknowledged(writer, "short");
  CHECK(kept_world.past(policies, "others") == "1:1 -D 2:1");
  (void)writer.ask("unregister short 1");
  await_acknowledged(writer, "short");
  writer.kill();
  kept_world.restart_all();
  const auto keeps_one = [&] { return kept_world.past(policies, "others") == "2:1 -N"; };
  CHECK(eventually(keeps_one));
  kept_world.restart_all();
  CHECK(kept_world.past(policies, "others") == "2:1 -N");
  CHECK(kept_world.past(policies) == "1:1 -D 2:1 -N");
}

TEST_CASE("kept: partitions divide the past as they divide the present", "[kept]") {
  KeptWorld kept_world;
  kept_world.service().start();
  Peer writer(kept_world.world().socket_name(), "writer");
  Policies north = kept();
  north.publisher.partition.name = {"north"};
  Policies south = kept();
  south.publisher.partition.name = {"south"};
  writer.make_writer("n", north);
  writer.make_writer("s", south);
  writer.write("n", 1, 1);
  writer.write("s", 2, 1);
  await_acknowledged(writer, "n");
  await_acknowledged(writer, "s");
  writer.kill();
  kept_world.restart_all();
  Policies reader = kept();
  CHECK(kept_world.past(reader).empty());
  reader.subscriber.partition.name = {"south"};
  CHECK(kept_world.past(reader) == "2:1 -N");
  reader.subscriber.partition.name = {"*"};
  CHECK(kept_world.past(reader) == "1:1 -N 2:1 -N");
}

TEST_CASE("kept: a service that starts late keeps what living and killed writers still have", "[kept]") {
  KeptWorld kept_world;
  const Policies policies = kept();
  Peer alive(kept_world.world().socket_name(), "alive");
  Peer dead(kept_world.world().socket_name(), "dead");
  for (Peer* peer : {&alive, &dead}) peer->make_writer("w", policies);
  alive.write("w", 1, 1, 3);
  dead.write("w", 2, 1, 3);
  CHECK(alive.try_asking("acknowledged w 100").find("no persistence service keeps this topic") !=
        std::string::npos);
  dead.kill();
  kept_world.service().start();
  await_acknowledged(alive);
  // Which of the two writers the service has read first, nobody knows.
  const auto has_both = [&](const std::string& of_the_living) {
    const std::string past = kept_world.past(policies);
    INFO(past);
    CHECK((past == of_the_living + " 2:1 2:2 2:3 -N" || past == "2:1 2:2 2:3 -N " + of_the_living));
  };
  has_both("1:1 1:2 1:3");
  alive.kill();
  kept_world.restart_all();
  has_both("1:1 1:2 1:3 -N");
}

TEST_CASE("kept: a limit of DURABILITY_SERVICE holds the writer, and says so", "[kept]") {
  KeptWorld kept_world;
  kept_world.service().start();
  Policies policies = kept();
  policies.writer.durability_service.max_samples = 3;
  Peer writer(kept_world.world().socket_name(), "writer");
  writer.make_writer("w", policies);
  writer.write("w", 1, 1, 3);
  await_acknowledged(writer);
  writer.write("w", 1, 4);
  CHECK(writer.try_asking("acknowledged w 300").find("has not kept all of them") != std::string::npos);
  CHECK(kept_world.past(policies) == counted(4));  // the fourth comes from the writer
}

TEST_CASE("kept: a store has one service", "[kept]") {
  KeptWorld kept_world;
  kept_world.service().start();
  const std::vector<std::string> command = {LLAMADA_PERSISTD, "--driver", kept_world.world().socket_name(),
                                            "--store"};
  auto same_store = command;
  same_store.push_back(kept_world.store);
  const Ended locked = run(same_store);
  CHECK(locked.code == 1);
  CHECK(locked.text.find("is in use by process") != std::string::npos);
  CHECK(run({LLAMADA_PERSISTD}).code == 2);
}

TEST_CASE("kept: llamada persist lists, shows, checks and drops what is kept", "[kept]") {
  KeptWorld kept_world;
  kept_world.service().start();
  const auto persist = [&](const std::string& command, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {LLAMADA_COMMAND, "persist", command, kept_world.store};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  };
  const auto has = [](const Ended& ended, const std::string& part) {
    INFO(ended.text);
    CHECK(ended.text.find(part) != std::string::npos);
  };
  Peer writer(kept_world.world().socket_name(), "writer");
  writer.make_writer("w", kept());
  writer.write("w", 1, 41, 3);
  await_acknowledged(writer);
  has(persist("ls"),
      "readings  (llamada::dcps::test::Reading, domain 0)\n    PERSISTENT; service_cleanup_delay");
  has(persist("ls"), "samples 3, disposals 0, writers 1");
  has(persist("ls", {"--json"}), "\"topic\": \"readings\"");
  const Ended shown = persist("show", {"readings", "--count", "2"});
  CHECK(shown.code == 0);
  has(shown, "value: 42");
  has(shown, "value: 43");
  CHECK(shown.text.find("value: 41") == std::string::npos);
  has(persist("check"), "3 samples of 1 topics, all whole");
  CHECK(persist("show", {"nothing"}).code == 2);
  const Ended refused = persist("drop", {"readings"});
  CHECK(refused.code == 1);
  has(refused, "is in use by process");
  CHECK(kept_world.service().end() == 0);
  CHECK(persist("drop", {"readings"}).code == 0);
  has(persist("ls"), "No topic is kept in");
  // A damaged store is said to be so.
  kept_world.service().start();
  REQUIRE(eventually([&] { return persist("ls").text.find("samples 3") != std::string::npos; }));
  kept_world.service().kill();
  for (const auto& file : std::filesystem::directory_iterator(kept_world.store)) {
    if (file.path().extension() != ".seg") continue;
    std::fstream bytes(file.path(), std::ios::in | std::ios::out | std::ios::binary);
    const std::string all((std::istreambuf_iterator<char>(bytes)), std::istreambuf_iterator<char>());
    const auto at = all.rfind(std::string("\x2b\0\0\0", 4));  // the value 43
    if (at == std::string::npos) continue;
    bytes.clear();
    bytes.seekp(static_cast<std::streamoff>(at));
    bytes.put('\x2c');
  }
  const Ended damaged = persist("check");
  CHECK(damaged.code == 1);
  has(damaged, "not all whole");
}

}  // namespace
}  // namespace llamada::dcps::test
