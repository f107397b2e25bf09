// Two persistence services of one domain as processes, which are killed at any moment.
#include "kept_killed.hpp"
#include "llamada/base/random.hpp"

namespace llamada::dcps::test {
namespace {

/// Two services with a store each. What they say is kept in files.
struct KeptPair {
  KeptWorld kept_world;
  Persistd second{kept_world.folder / "second", kept_world.world().socket_name()};

  KeptPair() {
    kept_world.service().keep_words(kept_world.folder / "first.said");
    second.keep_words(kept_world.folder / "second.said");
  }
  World& world() { return kept_world.world(); }
  Persistd& first() { return kept_world.service(); }
  Persistd& at(int index) { return index == 0 ? first() : second; }

  /// Starts it beside the other one, and returns when it has all.
  void align(Persistd& service) {
    const std::string before = service.said();
    service.start();
    const bool is_aligned =
        eventually([&] { return service.said().find("is aligned", before.size()) != std::string::npos; });
    INFO(first().said() << second.said());
    REQUIRE(is_aligned);
  }
  std::string past() { return kept_world.past(kept()); }
};

}  // namespace

TEST_CASE("kept pair: late readers get the past once, of two services or of the one that is left", "[kept]") {
  KeptPair pair;
  pair.first().start();
  Peer writer(pair.world().socket_name(), "writer");
  writer.make_writer("w", kept());
  writer.write("w", 1, 1, 5);
  await_acknowledged(writer);
  pair.align(pair.second);
  writer.write("w", 1, 6, 5);
  await_acknowledged(writer);
  CHECK(pair.past() == counted(10));
  writer.kill();
  CHECK(pair.past() == counted(10) + " -N");
  // One that is killed comes back, and then the other one is killed.
  for (int round = 0; round < 2; ++round) {
    pair.first().kill();
    CHECK(pair.past() == counted(10) + " -N");
    pair.align(pair.first());
    CHECK(pair.past() == counted(10) + " -N");
    pair.second.kill();
    CHECK(pair.past() == counted(10) + " -N");
    pair.align(pair.second);
  }
  CHECK(pair.second.said().find("is aligned with the service of process") != std::string::npos);
  CHECK(pair.first().end() == 0);
  CHECK(pair.past() == counted(10) + " -N");
  CHECK(pair.second.end() == 0);
}

TEST_CASE("kept pair: a reader that waits when the serving one is killed gets the past of the other one",
          "[kept]") {
  KeptPair pair;
  pair.first().start();
  write_and_end(pair.world(), 10);
  pair.align(pair.second);
  pair.first().send(SIGSTOP);
  auto reader = pair.world().reader(kept());
  CHECK(reader->wait_for_historical_data(200ms).error().code() == Errc::timeout);
  pair.first().kill();
  REQUIRE(reader->wait_for_historical_data(watchdog));
  CHECK(take_text(*reader).starts_with(counted(10)));
}

TEST_CASE("kept pair: what was acknowledged outlives any one service that is killed, once and in order",
          "[kept]") {
  constexpr int kill_count = 20;
  KeptPair pair;
  Random random(GENERATE(5u, 6u));
  pair.first().start();
  pair.second.start();
  Writing writing[] = {{pair.world(), 1}, {pair.world(), 2}};
  for (int kills = 0; kills < kill_count; ++kills) {
    Persistd& victim = pair.at(static_cast<int>(random.below(2)));
    until_killed(victim, std::chrono::microseconds(random.below(80'000)), [&] {
      for (Writing& each : writing) each.write(1 + static_cast<std::int32_t>(random.below(20)));
    });
    victim.start();
  }
  for (Writing& each : writing) {
    await_acknowledged(each.peer);
    each.acknowledged = each.written;
    each.peer.kill();
  }
  const auto check = [&] {
    INFO(pair.first().said() << "---\n" << pair.second.said());
    check_kept(pair.world(), writing);
  };
  check();
  // Each of the two has all, on its own.
  pair.second.kill();
  pair.align(pair.second);
  pair.first().kill();
  check();
  pair.align(pair.first());
  pair.second.kill();
  check();
}

}  // namespace llamada::dcps::test
