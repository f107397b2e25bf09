// Stores of both kinds, and copies of them, with the persistence service as a process of its own.
#include <filesystem>
#include <fstream>

#include "peer.hpp"
#include "persistd.hpp"
#include "socket.hpp"
#include "temporary_folder.hpp"

namespace llamada::dcps::test {
namespace {

Policies kept_all() {
  Policies policies;
  policies.writer.durability.kind = policies.reader.durability.kind = qos::DurabilityKind::persistent;
  policies.writer.writer_data_lifecycle.autodispose_unregistered_instances = false;
  policies.writer.durability_service.history_kind = qos::HistoryKind::keep_all;
  return policies;
}

/// Flips a bit of each sample with this key and value. How many there were.
std::size_t damage(const std::string& store, std::int32_t key, std::int32_t value) {
  const auto found = stored_readings(store, key, value);
  for (const StoredReading& each : found) {
    std::fstream file(each.file, std::ios::in | std::ios::out | std::ios::binary);
    const int byte = file.seekg(static_cast<std::streamoff>(each.at)).get();
    file.seekp(static_cast<std::streamoff>(each.at)).put(static_cast<char>(byte ^ 1));
  }
  return found.size();
}

}  // namespace

TEST_CASE("kept: a copy of the other kind is read by the commands, and served to late readers", "[kept]") {
  const llamada::test::TemporaryFolder folder;
  const std::string segments = folder / "segments", sqlite = folder / "sqlite";
  const auto persist = [](std::vector<std::string> words) {
    words.insert(words.begin(), {LLAMADA_COMMAND, "persist"});
    return run(words);
  };
  const auto has = [](const Ended& ended, int code, const std::string& part) {
    INFO(ended.text);
    CHECK(ended.code == code);
    CHECK(ended.text.find(part) != std::string::npos);
  };
  {
    World world;
    Persistd service(segments, world.socket_name());
    service.start();
    Peer writer(world.socket_name(), "writer");
    writer.make_writer("w", kept_all());
    writer.write("w", 1, 41, 3);
    REQUIRE(eventually([&] {
      return persist({"ls", segments}).text.find("samples 3") != std::string::npos;
    }));
    has(persist({"copy", "--store-kind", "sqlite", segments, sqlite}), 0, "items of 1 topics, copied from");
    has(persist({"copy", segments, sqlite}), 1, "exists; a copy needs a directory that does not");
    has(persist({"copy", "--store-kind", "other", segments, folder / "third"}), 2,
        "there are segments and sqlite");
    service.kill();
  }
  CHECK(std::filesystem::exists(sqlite + "/store.sqlite"));
  has(persist({"ls", sqlite}), 0, "samples 3");
  has(persist({"show", sqlite, "readings"}), 0, "value: 43");
  has(persist({"check", sqlite}), 0, "3 samples of 1 topics, all whole");
  World world;
  has(run({LLAMADA_PERSISTD, "--driver", world.socket_name(), "--store", sqlite, "--store-kind", "segments"}),
      1, "holds a store of kind sqlite, not segments");
  Persistd service(sqlite, world.socket_name());
  service.start();
  auto reader = world.reader(kept_all(), "readings");
  REQUIRE(reader->wait_for_historical_data(watchdog));
  CHECK(take_text(*reader).find("43") != std::string::npos);
  CHECK(service.end() == 0);
  has(persist({"drop", sqlite, "readings"}), 0, "is no longer kept");
  has(persist({"ls", sqlite}), 0, "No topic is kept in");
}

TEST_CASE("kept: a copy names a damaged item, leaves it out, and its exit code says so", "[kept]") {
  const llamada::test::TemporaryFolder folder;
  const std::string from = folder / "from", to = folder / "to";
  {
    World world;
    Persistd service(from, world.socket_name());
    service.start();
    Peer writer(world.socket_name(), "writer");
    writer.make_writer("w", kept_all());
    writer.write("w", 7, 41, 3);
    (void)writer.ask("acknowledged w 60000");
    service.kill();
  }
  CHECK(damage(from, 7, 42) == 1);
  const Ended copied = run({LLAMADA_COMMAND, "persist", "copy", from, to});
  INFO(copied.text);
  CHECK(copied.code == 1);
  CHECK(copied.text.find("1 damaged item is not in the copy") != std::string::npos);
  CHECK(copied.text.find("readings") != std::string::npos);
  const Ended shown = run({LLAMADA_COMMAND, "persist", "show", to, "readings"});
  INFO(shown.text);
  CHECK(shown.text.find("value: 41") != std::string::npos);
  CHECK(shown.text.find("value: 42") == std::string::npos);
  CHECK(shown.text.find("value: 43") != std::string::npos);
  CHECK(run({LLAMADA_COMMAND, "persist", "check", to}).code == 0);
  CHECK(run({LLAMADA_COMMAND, "persist", "check", from}).code == 1);
}

}  // namespace llamada::dcps::test
