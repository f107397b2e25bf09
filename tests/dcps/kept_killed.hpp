#pragma once

#include <signal.h>

#include <atomic>
#include <chrono>
#include <map>
#include <thread>

#include "kept_world.hpp"

namespace llamada::dcps::test {

/// Repeats the work until the service is killed, so long after this call.
template <typename Work>
void until_killed(Persistd& service, std::chrono::microseconds after, Work work) {
  std::atomic<bool> is_killed = false;
  std::thread killer([&] {
    std::this_thread::sleep_for(after);
    service.send(SIGKILL);
    is_killed = true;
  });
  while (!is_killed) work();
  killer.join();
  service.kill();
}

/// A process that writes to a topic, and how far it has come.
struct Writing {
  Peer peer;
  std::int32_t sensor;
  std::int32_t written = 0, acknowledged = 0;

  Writing(World& world, std::int32_t sensor, const Policies& policies = kept())
      : peer(world.socket_name(), fmt::format("writer-{}", sensor)), sensor(sensor) {
    peer.make_writer("w", policies);
  }
  void write(std::int32_t count) {
    peer.write("w", sensor, written + 1, count);
    written += count;
    look();
  }
  void look() {
    if (peer.try_asking("acknowledged w 20").starts_with("ok")) acknowledged = written;
  }
};

/// A reader that comes now gets what each one wrote, once and in order, and all that was acknowledged.
template <std::size_t count>
void check_kept(World& world, const Writing (&all)[count]) {
  auto reader = world.reader(kept());
  REQUIRE(reader->wait_for_historical_data(watchdog));
  std::map<std::int32_t, std::int32_t> last;
  {
    const auto samples = reader->take();
    for (const auto& each : *samples) {
      if (!each.info.valid_data) continue;
      const auto value = *types::deserialize<Reading>(each.data);
      REQUIRE(value.value == ++last[value.sensor]);
    }
  }
  for (const Writing& each : all) {
    INFO("sensor " << each.sensor << ": written " << each.written << ", acknowledged " << each.acknowledged
                   << ", kept " << last[each.sensor]);
    CHECK(last[each.sensor] >= each.acknowledged);
    CHECK(last[each.sensor] <= each.written);
  }
  REQUIRE(reader->subscriber()->delete_datareader(reader));
}

}  // namespace llamada::dcps::test
