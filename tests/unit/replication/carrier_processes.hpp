#pragma once

#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "../log/arena_fixture.hpp"
#include "llamada/links/fake_link.hpp"
#include "llamada/replication/carrier.hpp"
#include "test.hpp"

// What the tests of carriers share: processes over a fake network that loses nothing.

namespace llamada::replication {

using namespace std::chrono_literals;
using log::LogReader;
using log::LogWriter;
using log::Memory;

/// Payloads beyond it stay absent, in logs that keep all.
inline constexpr std::uint64_t eager_bytes_max = 64 << 10;

struct Heard final : CarrierEvents {
  void gone(const LogName&, const Gone& gone) override { gones.push_back(gone.from); }
  void ended(const LogName&, const End& end) override { ends.push_back(end.record); }
  std::vector<std::uint64_t> gones, ends;
};

/// Logs of others in arenas of the test's processes.
struct Found final : Histories {
  std::optional<LogSource> find(const LogName& name, EndpointNumber keeper) override {
    ++questions;
    const auto arena = arenas.find(name.writer);
    if (arena == arenas.end()) return std::nullopt;
    std::uint32_t logs = 0, cursors = 0;
    const auto index = log::find_log(arena->second, name.key, logs);
    if (!index) return std::nullopt;
    return LogSource{arena->second, *index,
                     log::find_cursor(arena->second, keeper_key(name.key), keeper, cursors)};
  }
  std::optional<PeerState> introduce(EndpointNumber stranger) override {
    const auto state = strangers.find(stranger);
    return state != strangers.end() ? std::optional(state->second) : std::nullopt;
  }
  std::map<std::uint32_t, log::PeerArena> arenas;
  std::map<EndpointNumber, PeerState> strangers;
  int questions = 0;
};

/// A process: an arena, two links, a carrier.
struct Process {
  Process(EndpointNumber number, links::FakeNetwork& network, std::uint16_t incarnation = 1,
          std::size_t bulk_bytes_max = 1472)
      : endpoint(number),
        small(network.make_link({.datagram_bytes_max = 1472})),
        bulk(network.make_link({.datagram_bytes_max = bulk_bytes_max, .train_max = 32})) {
    begin(incarnation);
  }
  void begin(std::uint16_t incarnation) {
    carrier.reset();
    arena.reset();
    arena = log::make_arena(memory);
    const CarrierOptions options{
        .identity = {.job = 9, .endpoint = endpoint, .incarnation = incarnation, .key = {1, 2}},
        .eager_bytes_max = eager_bytes_max,
        .events = &heard,
        .histories = &found,
        .cut = &cut};
    carrier = std::make_unique<Carrier>(options, *small, *bulk, *arena);
    state = {.incarnation = incarnation, .small = small->address(), .bulk = bulk->address()};
  }
  LogWriter log(std::uint64_t low, log::Retention retention) {
    auto log = LogWriter::open(*arena, {1, low}, {.retention = retention, .live_bytes_max = 256 << 10});
    REQUIRE(log.has_value());
    return std::move(*log);
  }
  LogReader reader(LogWriter& copy) {
    auto cursor = arena->cursor({99, copy.index()}, endpoint);
    REQUIRE(cursor.has_value());
    copy.add_reader(*cursor);
    return LogReader::open(arena->own(), copy.index(), *cursor);
  }

  EndpointNumber endpoint;
  Memory memory{64 << 20};
  std::unique_ptr<links::FakeLink> small, bulk;
  std::atomic<std::uint64_t> cut{0};
  Heard heard;
  Found found;
  std::unique_ptr<log::ArenaWriter> arena;
  std::unique_ptr<Carrier> carrier;
  PeerState state;
};

struct Two {
  Two() { introduce(); }
  void introduce() {
    REQUIRE(one.carrier->meet(2, other.state).has_value());
    REQUIRE(other.carrier->meet(1, one.state).has_value());
  }
  void pass(Time time) {
    for (const Time end = now + time; now < end; now += 5us) {
      network.advance(now);
      one.carrier->work(now);
      other.carrier->work(now);
    }
  }
  /// Nothing gets from one process to another by their small links, or by those for bulk.
  void cut_small(const Process& from, const Process& to) {
    network.cut(from.small->address().port, to.small->address().port);
  }
  void cut_bulk(const Process& from, const Process& to) {
    network.cut(from.bulk->address().port, to.bulk->address().port);
  }
  LogWriter& follow(const LogName& name, std::uint64_t window_bytes = 512 << 10) {
    auto copy = other.carrier->follow(1, name, {.window_bytes = window_bytes});
    REQUIRE(copy.has_value());
    return **copy;
  }

  links::FakeNetwork network{1, {}};
  Process one{1, network}, other{2, network};
  Time now{};
};

/// A driver that serves what process 1 has written, beside the two.
struct Three : Two {
  Three() {
    const EndpointNumber driver_number = driver_endpoint(0);
    driver.found.arenas[1] = one.arena->own();
    driver.found.strangers[2] = other.state;
    driver.carrier = std::make_unique<Carrier>(
        CarrierOptions{.identity = {.job = 9, .endpoint = driver_number, .incarnation = 1, .key = {1, 2}},
                       .eager_bytes_max = eager_bytes_max,
                       .histories = &driver.found},
        *driver.small, *driver.bulk);
    REQUIRE(other.carrier->meet(driver_number, driver.state).has_value());
  }
  /// Process 1 is outside of its carrier.
  void pass_silently(Time time) {
    for (const Time end = now + time; now < end; now += 5us) {
      network.advance(now);
      driver.carrier->work(now);
      other.carrier->work(now);
    }
  }
  void pass_all(Time time) {
    for (const Time end = now + time; now < end; now += 5us) {
      network.advance(now);
      one.carrier->work(now);
      driver.carrier->work(now);
      other.carrier->work(now);
    }
  }
  Status catch_up(const LogName& name) { return other.carrier->catch_up(driver_endpoint(0), name); }
  /// Datagrams of its bulk link are longer than those of its small one.
  Process driver{driver_endpoint(0), network, 1, 2000};
};

inline void publish(LogWriter& log, std::uint64_t number, std::size_t size) {
  REQUIRE(log.publish(3, 7, number, log::pattern(number, size)).has_value());
}

}  // namespace llamada::replication
