// Kept topics whose RELIABLE KEEP_ALL writers write more than their memory holds.
#include <map>
#include <sstream>
#include <thread>

#include "kept_killed.hpp"
#include "llamada/base/random.hpp"

namespace llamada::dcps::test {
namespace {

constexpr std::uint64_t arena_bytes = 64 << 20;
constexpr int text_bytes = 262144;
constexpr std::int32_t more_than_fits = 600;

Policies patient(qos::DurabilityKind kind = qos::DurabilityKind::persistent) {
  Policies policies = kept(kind);
  policies.writer.reliability.max_blocking_time = watchdog;
  return policies;
}

void write_large(Peer& writer, std::int32_t first, std::int32_t count, int sensor = 1) {
  (void)writer.ask(fmt::format("write w {} {} {} {} -1", sensor, first, count, text_bytes));
}

TEST_CASE("kept memory: a writer beside a service writes several times what its memory holds", "[kept]") {
  const auto kind = GENERATE(qos::DurabilityKind::transient, qos::DurabilityKind::persistent);
  KeptWorld kept_world(arena_bytes);
  kept_world.service().start();
  Peer writer(kept_world.world().socket_name(), "writer");
  writer.make_writer("w", patient(kind));
  Peer early(kept_world.world().socket_name(), "early");
  early.make_reader("r", patient(kind));
  writer.await_matched("w", 2);
  write_large(writer, 1, more_than_fits);
  CHECK(early.take_until("r", counted(more_than_fits)) == counted(more_than_fits));
  CHECK(kept_world.past(patient(kind)) == counted(more_than_fits));
  // The past is followed by the present.
  Peer late(kept_world.world().socket_name(), "late");
  late.make_reader("r", patient(kind));
  (void)late.ask("history r");
  write_large(writer, more_than_fits + 1, 3);
  CHECK(late.take_until("r", counted(more_than_fits + 3)) == counted(more_than_fits + 3));
  kept_world.restart_service();
  write_large(writer, more_than_fits + 4, 300);
  CHECK(kept_world.past(patient(kind)) == counted(more_than_fits + 303));
  await_acknowledged(writer);
  writer.kill();
  CHECK(kept_world.past(patient(kind)) == counted(more_than_fits + 303) + " -N");
  kept_world.restart_all();
  CHECK(kept_world.past(patient(kind)) == counted(more_than_fits + 303) + " -N");
}

TEST_CASE("kept memory: a late reader without a service waits for it, and then says what it misses",
          "[kept]") {
  KeptWorld kept_world(arena_bytes);
  kept_world.service().start();
  Peer writer(kept_world.world().socket_name(), "writer");
  writer.make_writer("w", patient());
  writer.await_matched("w");
  write_large(writer, 1, more_than_fits);
  await_acknowledged(writer);
  kept_world.service().kill();
  {
    Peer late(kept_world.world().socket_name(), "late");
    late.make_reader("r", patient());
    CHECK(late.try_asking("history r").starts_with("ok"));  // nobody came
    const auto lost = std::stoi(late.ask("lost r"));
    CHECK(lost > more_than_fits / 2);
    CHECK(std::stoi(late.ask("read_count r")) + lost == more_than_fits);
  }
  Peer late(kept_world.world().socket_name(), "late");
  late.make_reader("r", patient());
  std::this_thread::sleep_for(1s);
  CHECK(late.ask("read_count r") == "0");
  kept_world.service().start();
  CHECK(late.take_until("r", counted(more_than_fits)) == counted(more_than_fits));
  CHECK(late.ask("lost r") == "0");
}

TEST_CASE("kept memory: instances of which a writer no longer has samples live as long as it writes them",
          "[kept]") {
  const bool restarts = GENERATE(false, true);
  KeptWorld kept_world(arena_bytes);
  kept_world.service().start();
  Peer writer(kept_world.world().socket_name(), "writer");
  writer.make_writer("w", patient());
  writer.await_matched("w");
  for (int sensor = 1; sensor <= 3; ++sensor) write_large(writer, 1, 1, sensor);
  (void)writer.ask("unregister w 2");
  write_large(writer, 1, more_than_fits, 9);
  await_acknowledged(writer);
  if (restarts) {
    kept_world.restart_service();
    writer.await_matched("w");
    await_acknowledged(writer);
  }
  auto reader = kept_world.world().reader(patient());
  REQUIRE(reader->wait_for_historical_data(watchdog));
  std::string text;
  const auto ended_count = [&](std::size_t at_least) {
    const auto count = [&] {
      text += take_text(*reader) + " ";
      std::size_t ended = 0;
      for (auto at = text.find("-N"); at != std::string::npos; at = text.find("-N", at + 1)) ++ended;
      return ended;
    };
    (void)eventually([&] { return count() >= at_least; });
    return count();
  };
  CHECK(ended_count(1) == 1);
  std::this_thread::sleep_for(1500ms);  // the service's writer has gone
  CHECK(ended_count(1) == 1);           // sensor 2
  CHECK(text.starts_with("1:1 2:1 "));
  writer.kill();
  CHECK(ended_count(4) == 4);
}

void write_large(Writing& to, std::int32_t count) {
  for (; count > 0; --count) {
    const std::string answer =
        to.peer.try_asking(fmt::format("write w {} {} 1 {} -1", to.sensor, to.written + 1, text_bytes));
    if (!answer.starts_with("ok")) break;  // its memory is full
    ++to.written;
  }
  to.look();
}

/// "1:1 1:2 2:1": each sensor's values from 1 on.
bool is_in_order(const std::string& text) {
  std::istringstream words(text);
  std::map<std::int32_t, std::int32_t> last;
  std::int32_t sensor = 0, value = 0;
  for (char colon = 0; words >> sensor >> colon >> value;)
    if (value != ++last[sensor]) return false;
  return words.eof();
}

TEST_CASE("kept memory: a service that is killed at any moment has what writers gave back, once and in order",
          "[kept]") {
  constexpr int kill_count = 25;
  KeptWorld kept_world(arena_bytes);
  Random random(11);
  Policies policies = kept();
  policies.writer.reliability.max_blocking_time = 20ms;
  Writing writing[] = {{kept_world.world(), 1, policies}, {kept_world.world(), 2, policies}};
  const auto fits = [](const Writing& each) {
    return std::uint64_t(each.written) * text_bytes < 2 * arena_bytes;
  };
  for (int kills = 0; kills < kill_count || fits(writing[0]) || fits(writing[1]); ++kills) {
    kept_world.service().start();
    Peer late(kept_world.world().socket_name(), "late");
    late.make_reader("r", kept());
    until_killed(kept_world.service(), std::chrono::milliseconds(random.below(300)), [&] {
      for (Writing& each : writing) write_large(each, 1 + static_cast<std::int32_t>(random.below(40)));
    });
    CHECK(is_in_order(late.ask("take r")));
    CHECK(late.ask("lost r") == "0");
  }
  for (Writing& each : writing) each.peer.kill();
  kept_world.service().start();
  kept_world.restart_all();
  check_kept(kept_world.world(), writing);
}

}  // namespace
}  // namespace llamada::dcps::test
