#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "node.hpp"

// The drivers of a job on several nodes, all on this host, for tests in one process.

namespace llamada::llamanet {

inline constexpr std::uint64_t test_job = 0x123456789abcdef0;
inline constexpr SipHashKey test_key{7, 8};

inline DriverOptions options_of_node(std::uint32_t own, std::vector<std::uint32_t> of_slot) {
  DriverOptions options;
  options.slot_count_max = static_cast<std::uint32_t>(of_slot.size()) + 2;
  options.arena_size_bytes = 16 << 20;
  options.nodes = JobNodes{own, std::move(of_slot), "127.0.0.1", test_job, test_key};
  return options;
}

/// A job with slots 0 and 2 on node 0, and 1 and 3 on node 1; the nodes have met.
struct TwoNodes {
  static constexpr std::uint32_t slots = 4;
  static std::vector<std::uint32_t> of_slot() { return {0, 1, 0, 1}; }

  TwoNodes() {
    const std::vector<std::string> endpoints{first.driver().endpoints(), second.driver().endpoints()};
    REQUIRE(first.driver().meet_nodes(endpoints));
    REQUIRE(second.driver().meet_nodes(endpoints));
  }
  Node& of(std::uint32_t slot) { return slot % 2 == 0 ? first : second; }
  void stop() {
    first.stop();
    second.stop();
  }
  void start() {
    first.start();
    second.start();
  }
  /// The next application of the slot, in this process. Both drivers run afterwards.
  std::unique_ptr<Application> attach(std::uint32_t slot) {
    expect(slot);
    start();
    auto application = Application::attach(of(slot).options(slot, slot + 1));
    REQUIRE(application);
    return std::move(*application);
  }
  /// Both drivers stand still afterwards.
  void expect(std::uint32_t slot) {
    stop();
    Driver& driver = of(slot).driver();
    const bool is_first = driver.state(slot) == SlotState::free;
    driver.expect(slot, slot + 1, is_first ? 1 : driver.next_incarnation(slot));
  }

  Node first{options_of_node(0, of_slot()), slots};
  Node second{options_of_node(1, of_slot()), slots};
};

}  // namespace llamada::llamanet
