#include "p2p/route.hpp"

#include <string>

#include "test.hpp"

namespace llamada::mpi {
namespace {

constexpr std::size_t kib = 1024;

RouteFacts message(std::size_t bytes) { return {.bytes = bytes}; }
RouteFacts apart(RouteFacts facts) { return facts.lies_together = false, facts; }
RouteFacts kept(RouteFacts facts) { return facts.keeps = true, facts; }
RouteFacts far(RouteFacts facts) { return facts.is_reachable = false, facts; }
RouteFacts to_itself(RouteFacts facts) { return facts.is_to_itself = true, facts; }
RouteFacts crossing(RouteFacts facts) { return facts.is_crossing = true, facts; }

struct Row {
  const char* what;
  RouteFacts facts;
  Route expected;
};

constexpr bool shown = true;
const Row rows[] = {
    // Histories are not kept.
    {"short", message(2 * kib), {Way::log}},
    {"longer: the log may have it already", message(2 * kib + 1), {Way::log, Repeat::same}},
    {"nearly as long as what goes by memory", message(64 * kib - 1), {Way::log, Repeat::same}},
    {"long", message(64 * kib), {Way::log_if, Repeat::same, shown}},
    {"long, to and fro", crossing(message(64 * kib)), {Way::log_if, Repeat::same, shown}},
    {"longer, to and fro", crossing(message(64 * kib + 1)), {Way::log_if, Repeat::same}},
    {"as long as a cache", message(256 * kib), {Way::log_if, Repeat::same, shown}},
    {"longer than a cache", message(256 * kib + 1), {Way::memory}},
    {"long, to itself", to_itself(message(64 * kib)), {Way::memory}},
    {"short, to itself", to_itself(message(100)), {Way::log}},
    {"long, where memory cannot be reached", far(message(64 * kib)), {Way::log, Repeat::same, shown}},
    {"longer, where memory cannot be reached", far(message(64 * kib + 1)), {Way::bulk_lane}},
    {"long, in several pieces", apart(message(64 * kib)), {Way::log}},
    {"longer, in several pieces", apart(message(64 * kib + 1)), {Way::bulk_lane}},
    {"short, in several pieces", apart(message(100)), {Way::log}},
    {"nothing", message(0), {Way::log}},
    // Histories are kept: all of it goes into the log.
    {"kept: short", kept(message(2 * kib)), {Way::log}},
    {"kept: longer", kept(message(2 * kib + 1)), {Way::log, Repeat::same}},
    {"kept: long: the log may nearly have it", kept(message(64 * kib)), {Way::log, Repeat::nearly, shown}},
    {"kept: very long", kept(message(1 << 30)), {Way::log, Repeat::nearly, shown}},
    {"kept: to and fro", kept(crossing(message(65 * kib))), {Way::log, Repeat::nearly}},
    {"kept: in several pieces", kept(apart(message(1 << 20))), {Way::log}},
    {"kept: far", kept(far(message(1 << 20))), {Way::log, Repeat::nearly, shown}},
    {"kept: to itself", kept(to_itself(message(1 << 20))), {Way::log, Repeat::nearly, shown}},
};

TEST_CASE("route: each kind of message has its way", "[mpi]") {
  for (const Row& row : rows) {
    INFO(row.what);
    CHECK(choose(row.facts, {}) == row.expected);
  }
}

TEST_CASE("route: the limits that can be set are looked at", "[mpi]") {
  CHECK(choose(message(kib), {.eager_bytes_max = 100}).way == Way::bulk_lane);
  CHECK(choose(message(kib), {.eager_bytes_max = 100, .memory_bytes_min = 100}).way == Way::log_if);
  CHECK(choose(far(message(100 * kib)), {.eager_bytes_max = 100 * kib}).way == Way::log);
  CHECK(choose(message(1 << 30), {.memory_bytes_min = SIZE_MAX}).way == Way::bulk_lane);
  CHECK(choose(kept(message(kib)), {.eager_bytes_max = 0, .memory_bytes_min = 0}).way == Way::log);
}

}  // namespace
}  // namespace llamada::mpi
