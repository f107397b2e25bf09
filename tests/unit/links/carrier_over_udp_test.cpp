// Two carriers in one thread over sockets of this machine. What they do when the network errs: tests/sim.

#include <cstdlib>
#include <memory>
#include <vector>

#include "../log/arena_fixture.hpp"
#include "llamada/base/clock.hpp"
#include "llamada/links/udp_link.hpp"
#include "llamada/replication/carrier.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::replication;
using namespace std::chrono_literals;
using llamada::links::UdpLink;
using llamada::links::UdpOptions;
using llamada::log::LogReader;
using llamada::log::LogWriter;

namespace {

constexpr Time watchdog = 60s;

std::unique_ptr<UdpLink> make_link(const UdpOptions& options) {
  auto socket = UdpLink::make_socket({.family = Address::Family::ipv4, .ip = {127, 0, 0, 1}}, options);
  REQUIRE(socket.has_value());
  auto link = UdpLink::adopt(std::move(*socket), options);
  REQUIRE(link.has_value());
  return std::move(*link);
}

struct Process {
  explicit Process(EndpointNumber endpoint) {
    const CarrierOptions options{.identity = {.job = 3, .endpoint = endpoint, .key = {4, 5}},
                                 .eager_bytes_max = 64 << 10};
    carrier = std::make_unique<Carrier>(options, *small, *bulk, *arena);
    carrier->set_waiting(true);
  }
  PeerState state() const { return {.small = small->address().value(), .bulk = bulk->address().value()}; }

  log::Memory memory{256 << 20};
  std::unique_ptr<UdpLink> small = make_link({}), bulk = make_link({.has_trains = true});
  std::unique_ptr<log::ArenaWriter> arena = log::make_arena(memory);
  std::unique_ptr<Carrier> carrier;
};

/// A log of process 1 that process 2 reads.
struct Two {
  explicit Two(log::Retention retention) {
    auto made = LogWriter::create(*one.arena, name.key, {.retention = retention});
    REQUIRE(made.has_value());
    log = std::move(*made);
    REQUIRE(one.carrier->meet(2, other.state()).has_value());
    REQUIRE(other.carrier->meet(1, one.state()).has_value());
    own = one.carrier->publish_to(log, name.key, 2).value();
    LogWriter* const copy = other.carrier->follow(1, name, {}).value();
    auto cursor = other.arena->cursor(copy_key(name), 2);
    REQUIRE(cursor.has_value());
    copy->add_reader(*cursor);
    reader = LogReader::open(other.arena->own(), copy->index(), *cursor);
  }
  void work() {
    one.carrier->work(clock.monotonic());
    other.carrier->work(clock.monotonic());
  }
  template <typename Condition>
  void work_until(Condition condition) {
    const Time end = clock.monotonic() + watchdog;
    while (!condition()) {
      work();
      REQUIRE(clock.monotonic() < end);
    }
  }

  SystemClock clock;
  LogName name{1, {1, 2}};
  Process one{1}, other{2};
  LogWriter log;
  Carrier::OwnLog own = 0;
  LogReader reader;
};

}  // namespace

TEST_CASE("carrier over UDP: thousands of records of all sizes come in order", "[links]") {
  Two two(log::Retention::recycle);
  constexpr std::uint64_t count = 5000;
  const auto size_of = [](std::uint64_t number) { return static_cast<std::size_t>(number * number % 3001); };
  std::uint64_t written = 0, read = 0;
  two.work_until([&] {
    if (written < count &&
        two.log.publish(1, 2, written + 1, log::pattern(written + 1, size_of(written + 1)))) {
      ++written;
      two.one.carrier->grown(two.own, two.clock.monotonic());
    }
    for (; const auto record = two.reader.peek(); two.reader.advance()) {
      ++read;
      REQUIRE((record->label == read && log::holds(record->payload, read, size_of(read))));
      two.reader.release(record->chunk_ordinal);
    }
    return read == count;
  });
  two.work_until([&] { return two.one.carrier->is_idle() && two.other.carrier->is_idle(); });
}

TEST_CASE("carrier over UDP: a small record passes a payload of 64 MiB that is being pulled", "[links]") {
  Two two(log::Retention::keep_all);
  constexpr std::size_t size = 64 << 20;
  REQUIRE(two.log.publish(1, 2, 1, log::pattern(1, size)).has_value());
  two.one.carrier->grown(two.own, two.clock.monotonic());
  two.work_until([&] { return two.reader.peek().has_value(); });
  CHECK(two.reader.peek()->absent_bytes == size);
  two.reader.advance();
  std::vector<std::byte> payload(size);
  bool is_complete = false;
  REQUIRE(two.other.carrier->pull(two.name, 1, payload, [&](bool complete) { is_complete = complete; })
              .has_value());
  for (int i = 0; i < 10; ++i) two.work();
  REQUIRE(two.log.publish(1, 2, 2, log::pattern(2, 8)).has_value());
  two.one.carrier->grown(two.own, two.clock.monotonic());
  two.work_until([&] { return two.reader.peek().has_value(); });
  CHECK_FALSE(is_complete);
  two.work_until([&] { return is_complete; });
  CHECK(log::holds(payload, 1, size));
}

// By hand: what the carriers add to the sockets' own time, both in one thread.
TEST_CASE("carrier over UDP: figures", "[.figures]") {
  Two two(log::Retention::keep_all);
  const Time start = two.clock.monotonic();
  constexpr int rounds = 100000;
  for (std::uint64_t number = 1; number <= rounds; ++number) {
    REQUIRE(two.log.publish(1, 2, number, log::pattern(1, 8)).has_value());
    two.one.carrier->grown(two.own, two.clock.monotonic());
    two.work_until([&] { return two.reader.peek().has_value(); });
    two.reader.advance();
    two.reader.release(two.reader.position_chunk());
  }
  const Time small = two.clock.monotonic() - start;
  constexpr std::size_t size = 64 << 20;
  REQUIRE(two.log.publish(1, 2, 1, log::pattern(1, size)).has_value());
  two.one.carrier->grown(two.own, two.clock.monotonic());
  two.work_until([&] { return two.reader.peek().has_value(); });
  std::vector<std::byte> payload(size);
  const Time begin = two.clock.monotonic();
  bool is_complete = false;
  REQUIRE(
      two.other.carrier->pull(two.name, rounds + 1, payload, [&](bool complete) { is_complete = complete; })
          .has_value());
  two.work_until([&] { return is_complete; });
  const Time bulk = two.clock.monotonic() - begin;
  std::printf("a record of 8 bytes: %.2f us; 64 MiB: %.0f MB/s\n",
              static_cast<double>(small.count()) / rounds / 1e3,
              static_cast<double>(size) * 1e3 / static_cast<double>(bulk.count()));
}
