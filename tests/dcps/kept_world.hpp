#pragma once

#include <memory>
#include <string>

#include "peer.hpp"
#include "persistd.hpp"
#include "temporary_folder.hpp"

namespace llamada::dcps::test {

/// A node with a service that has not been started.
struct Node {
  World world;
  Persistd service;

  Node(const std::string& store, std::uint64_t arena_bytes)
      : world(arena_bytes), service(store, world.socket_name()) {}
  /// What a reader that comes now gets of the past.
  std::string past(const Policies& policies, const std::string& topic = "readings") {
    auto reader = world.reader(policies, topic);
    REQUIRE(reader->wait_for_historical_data(watchdog));
    std::string text = take_text(*reader);
    REQUIRE(reader->subscriber()->delete_datareader(reader));
    return text;
  }
};

/// The store and the node on which its service runs. The writers' memory ends with the node, so that only
/// what the store has is left for the next one.
struct KeptWorld {
  explicit KeptWorld(std::uint64_t arena_bytes = std::uint64_t{256} << 20) : arena_bytes(arena_bytes) {}

  const std::uint64_t arena_bytes;
  llamada::test::TemporaryFolder folder;
  const std::string store = folder / "store";
  std::unique_ptr<Node> node = std::make_unique<Node>(store, arena_bytes);

  World& world() { return node->world; }
  Persistd& service() { return node->service; }
  std::string past(const Policies& policies, const std::string& topic = "readings") {
    return node->past(policies, topic);
  }
  void restart_service() {
    service().kill();
    service().start();
  }
  /// All processes end by SIGKILL; then the service starts on another node.
  void restart_all() {
    service().kill();
    node.reset();
    node = std::make_unique<Node>(store, arena_bytes);
    service().start();
  }
};

inline Policies kept(qos::DurabilityKind kind = qos::DurabilityKind::persistent, std::int32_t depth = 0) {
  Policies policies;
  policies.writer.durability.kind = policies.reader.durability.kind = kind;
  // A writer that disposes of its instances when it is deleted wants them to be forgotten.
  policies.writer.writer_data_lifecycle.autodispose_unregistered_instances = false;
  if (depth == 0)
    policies.writer.durability_service.history_kind = qos::HistoryKind::keep_all;
  else
    policies.writer.durability_service.history_depth = depth;
  return policies;
}

inline void await_acknowledged(Peer& peer, const std::string& writer = "w") {
  (void)peer.ask("acknowledged " + writer + " 60000");
}

/// A writer in a process of its own writes so many samples of sensor 1, and ends when they are kept.
inline void write_and_end(const World& world, std::int32_t count) {
  Peer writer(world.socket_name(), "writer");
  writer.make_writer("w", kept());
  writer.write("w", 1, 1, count);
  await_acknowledged(writer);
}

/// "1:1 1:2 ... 1:last".
inline std::string counted(std::int32_t last) {
  std::string text;
  for (std::int32_t value = 1; value <= last; ++value)
    text += fmt::format("{}1:{}", value > 1 ? " " : "", value);
  return text;
}

}  // namespace llamada::dcps::test
