// TRANSIENT and PERSISTENT topics while the service, or the node's driver, is killed at work.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "kept_killed.hpp"
#include "llamada/base/random.hpp"
#include "socket.hpp"

namespace llamada::dcps::test {
namespace {

TEST_CASE("kept: instances of a living writer stay alive while the service that gives them is killed",
          "[kept]") {
  constexpr int sensor_count = 60;
  KeptWorld kept_world;
  kept_world.service().start();
  Peer writer(kept_world.world().socket_name(), "writer");
  writer.make_writer("w", kept());
  // More than lies between the service and a reader.
  for (int sensor = 1; sensor <= sensor_count; ++sensor)
    (void)writer.ask(fmt::format("write w {} 1 1 262144 -1", sensor));
  await_acknowledged(writer);
  Policies policies = kept();
  policies.reader.resource_limits.max_samples = 4;
  auto reader = kept_world.world().reader(policies);
  REQUIRE(eventually([&] { return reader->read()->size() == 4; }));
  kept_world.service().kill();
  int taken = 0, changes = 0;
  const auto take = [&] {
    const auto samples = reader->take();
    for (const auto& sample : *samples) ++(sample.info.valid_data ? taken : changes);
    return taken == sensor_count;
  };
  while (reader->wait_for_historical_data(200ms).error().code() == Errc::timeout && !reader->read()->empty())
    CHECK_FALSE(take());
  kept_world.service().start();
  (void)eventually(take);
  CHECK(taken == sensor_count);
  REQUIRE(reader->wait_for_historical_data(watchdog));
  CHECK(take());
  CHECK(changes == 0);
  writer.kill();
  CHECK(eventually([&] { return take() && changes == sensor_count; }));
}

TEST_CASE("kept: a reader that is behind a living writer misses nothing when a service starts", "[kept]") {
  KeptWorld kept_world;
  Policies policies = kept(qos::DurabilityKind::transient, 1);
  policies.reader.resource_limits.max_samples_per_instance = 2;
  auto reader = kept_world.world().reader(policies);
  Peer writer(kept_world.world().socket_name(), "writer");
  writer.make_writer("w", policies);
  writer.await_matched("w");
  // The third sample of sensor 1 has no room yet. The service keeps the newest of each sensor only.
  writer.write("w", 1, 1, 3);
  REQUIRE(eventually([&] { return reader->read()->size() == 2; }));
  writer.write("w", 2, 1);
  writer.write("w", 1, 4);
  kept_world.service().start();
  // Its writer has come, and what can be read of it has been read.
  REQUIRE(eventually([&] { return reader->subscription_matched_status().total_count == 2; }));
  std::this_thread::sleep_for(300ms);
  std::string text;
  (void)eventually([&] {
    if (const std::string more = take_text(*reader); !more.empty()) text += (text.empty() ? "" : " ") + more;
    return text.size() >= 19;
  });
  CHECK(text == "1:1 1:2 1:3 1:4 2:1");  // by instance
}

/// The driver of a node as a process of its own.
class DriverProcess {
 public:
  DriverProcess() { start(); }
  ~DriverProcess() { end(); }
  const std::string& socket_name() const { return socket_name_; }
  void restart() {
    end();
    start();
  }

 private:
  void start() { pid_ = start_until_ready({LLAMANETD, "--name", name_}, "--ready-descriptor"); }
  void end() const {
    REQUIRE(pid_ > 0);
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  const std::string name_ = llamanet::unique_name();
  const std::string socket_name_ = llamanet::socket_name(::geteuid(), name_);
  pid_t pid_ = -1;
};

TEST_CASE("kept: the node's driver is killed and comes back, and nothing is lost", "[kept]") {
  DriverProcess driver;
  const llamada::test::TemporaryFolder folder;
  Persistd service(folder / "store", driver.socket_name());
  service.start();
  Peer writer(driver.socket_name(), "writer");
  writer.make_writer("w", kept());
  writer.write("w", 1, 1, 5);
  await_acknowledged(writer);
  driver.restart();
  writer.write("w", 1, 6, 3);
  await_acknowledged(writer);
  {
    Peer late(driver.socket_name(), "late");
    late.make_reader("r", kept());
    (void)late.ask("history r");
    CHECK(late.ask("take r") == counted(8));
  }
  writer.kill();
  service.kill();
  driver.restart();
  service.start();
  Peer late(driver.socket_name(), "late");
  late.make_reader("r", kept());
  (void)late.ask("history r");
  CHECK(late.ask("take r") == counted(8) + " -N");
}

TEST_CASE("kept: two services stay aligned when the node's driver is killed and comes back", "[kept]") {
  DriverProcess driver;
  const llamada::test::TemporaryFolder folder;
  Persistd services[] = {{folder / "first", driver.socket_name()}, {folder / "second", driver.socket_name()}};
  const auto past = [&] {
    Peer late(driver.socket_name(), "late");
    late.make_reader("r", kept());
    (void)late.ask("history r");
    return late.ask("take r");
  };
  services[1].keep_words(folder / "said");
  services[0].start();
  Peer writer(driver.socket_name(), "writer");
  writer.make_writer("w", kept());
  writer.write("w", 1, 1, 5);
  await_acknowledged(writer);
  services[1].start();
  REQUIRE(eventually([&] { return services[1].said().find("is aligned") != std::string::npos; }));
  std::int32_t last = 5;
  for (int round = 0; round < 4; ++round) {
    driver.restart();
    writer.write("w", 1, last + 1, 3);
    last += 3;
    await_acknowledged(writer);
    CHECK(past() == counted(last));
    // What was acknowledged with both at work is in each of them.
    INFO(services[1].said());
    services[round % 2].kill();
    CHECK(past() == counted(last));
    services[round % 2].start();
  }
}

TEST_CASE("kept: a limit on the size of files is told, and kills nobody", "[kept]") {
  KeptWorld kept_world;
  const Ended limited = run({"/bin/sh", "-c", "ulimit -f 0; exec \"$0\" \"$@\"", LLAMADA_PERSISTD, "--driver",
                             kept_world.world().socket_name(), "--store", kept_world.store});
  INFO(limited.text);
  CHECK(limited.code == 1);
  CHECK(limited.text.find("File too large") != std::string::npos);
}

TEST_CASE("kept: what was acknowledged outlives a service that is killed at any moment, once and in order",
          "[kept]") {
  constexpr int kill_count = 25;
  KeptWorld kept_world;
  Random random(7);
  Writing writing[] = {{kept_world.world(), 1}, {kept_world.world(), 2}};
  for (int kills = 0; kills < kill_count; ++kills) {
    kept_world.service().start();
    until_killed(kept_world.service(), std::chrono::microseconds(random.below(60'000)), [&] {
      for (Writing& each : writing) each.write(1 + static_cast<std::int32_t>(random.below(20)));
    });
  }
  for (Writing& each : writing) {
    CHECK(each.acknowledged > 0);
    each.peer.kill();
  }
  kept_world.service().start();
  kept_world.restart_all();
  check_kept(kept_world.world(), writing);
}

}  // namespace
}  // namespace llamada::dcps::test
