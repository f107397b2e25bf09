// TRANSIENT and PERSISTENT topics, with the persistence service as a process of its own.
#include <signal.h>

#include <random>

#include "peer.hpp"
#include "persistd.hpp"
#include "temporary_folder.hpp"

namespace llamada::dcps::test {
namespace {

/// A node, and a service that has not been started.
struct KeptWorld {
  World world;
  llamada::test::TemporaryFolder folder;
  std::string store = folder / "store";
  Persistd service{store, world.socket_name()};

  /// What a reader that comes now gets of the past.
  std::string past(const Policies& policies, const std::string& topic = "readings") {
    auto reader = world.reader(policies, topic);
    REQUIRE(reader->wait_for_historical_data(watchdog));
    return take_text(*reader);
  }
};

Policies kept(qos::DurabilityKind kind = qos::DurabilityKind::persistent, std::int32_t depth = 0) {
  Policies policies;
  policies.writer.durability.kind = policies.reader.durability.kind = kind;
  if (depth == 0)
    policies.writer.durability_service.history_kind = qos::HistoryKind::keep_all;
  else
    policies.writer.durability_service.history_depth = depth;
  return policies;
}

void await_acknowledged(Peer& peer, const std::string& writer = "w") {
  (void)peer.ask("acknowledged " + writer + " 60000");
}

TEST_CASE("kept: a late reader gets what a killed writer has written, also after the service was killed",
          "[kept]") {
  const auto kind = GENERATE(qos::DurabilityKind::transient, qos::DurabilityKind::persistent);
  KeptWorld kept_world;
  kept_world.service.start();
  Peer writer(kept_world.world.socket_name(), "writer");
  writer.make_writer("w", kept(kind));
  writer.write("w", 1, 1, 10);
  await_acknowledged(writer);
  writer.kill();
  const std::string all = "1:1 1:2 1:3 1:4 1:5 1:6 1:7 1:8 1:9 1:10";
  CHECK(kept_world.past(kept(kind)) == all + " -N");
  kept_world.service.kill();
  kept_world.service.start();
  CHECK(kept_world.past(kept(kind)) == all + " -N");
  CHECK(kept_world.service.end() == 0);
  kept_world.service.start();
  CHECK(kept_world.past(kept(kind)) == all + " -N");
}

}  // namespace
}  // namespace llamada::dcps::test
