#include "llamada/replication/carrier.hpp"

#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "../log/arena_fixture.hpp"
#include "llamada/links/fake_link.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::replication;
using namespace std::chrono_literals;
using llamada::log::LogReader;
using llamada::log::LogWriter;
using llamada::log::Memory;

namespace {

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
  Process(EndpointNumber number, links::FakeNetwork& network, std::uint16_t incarnation = 1)
      : endpoint(number),
        small(network.make_link({.datagram_bytes_max = 1472})),
        bulk(network.make_link({.datagram_bytes_max = 1472, .train_max = 32})) {
    begin(incarnation);
  }
  void begin(std::uint16_t incarnation) {
    carrier.reset();
    arena.reset();
    arena = log::make_arena(memory);
    const CarrierOptions options{
        .identity = {.job = 9, .endpoint = endpoint, .incarnation = incarnation, .key = {1, 2}},
        .events = &heard,
        .histories = &found};
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
  LogWriter& follow(const LogName& name, std::uint64_t window_bytes = 512 << 10) {
    auto copy = other.carrier->follow(1, name, {.window_bytes = window_bytes});
    REQUIRE(copy.has_value());
    return **copy;
  }

  links::FakeNetwork network{1, {}};
  Process one{1, network}, other{2, network};
  Time now{};
};

void publish(LogWriter& log, std::uint64_t number, std::size_t size) {
  REQUIRE(log.publish(3, 7, number, log::pattern(number, size)).has_value());
}

}  // namespace

TEST_CASE("carrier: a copy has each record with its bytes, however long", "[replication]") {
  Two two;
  LogWriter log = two.one.log(5, log::Retention::recycle);
  const auto own = two.one.carrier->publish_to(log, {1, 5}, 2);
  REQUIRE(own.has_value());
  LogWriter& copy = two.follow({1, {1, 5}});
  LogReader reader = two.other.reader(copy);
  const std::size_t sizes[] = {0, 1, 48, 49, 1300, 1400, 1500, 20000, 100000};
  std::uint64_t number = 0;
  for (const std::size_t size : sizes) {
    publish(log, ++number, size);
    two.one.carrier->grown(*own, two.now);
  }
  two.pass(20ms);
  number = 0;
  for (const std::size_t size : sizes) {
    const auto record = reader.peek();
    REQUIRE(record.has_value());
    CHECK((record->kind == 3 && record->flags == 7 && record->label == ++number));
    CHECK(log::holds(record->payload, number, size));
    reader.advance();
  }
  CHECK(!reader.peek());
  CHECK((two.one.carrier->is_idle() && two.other.carrier->is_idle()));
}

TEST_CASE("carrier: a record arrives without a timer", "[replication]") {
  Two two;
  LogWriter log = two.one.log(5, log::Retention::recycle);
  const auto own = two.one.carrier->publish_to(log, {1, 5}, 2);
  LogWriter& copy = two.follow({1, {1, 5}});
  two.pass(1ms);
  publish(log, 1, 8);
  two.one.carrier->grown(*own, two.now);
  two.pass(20us);  // the network's delay is at most 10
  CHECK(copy.published() == 1);
}

TEST_CASE("carrier: a writer's log is held until the copy has it, and reused then", "[replication]") {
  Two two;
  LogWriter log = two.one.log(5, log::Retention::recycle);
  const auto own = two.one.carrier->publish_to(log, {1, 5}, 2);
  std::uint64_t number = 0;
  const auto fill = [&] {
    while (log.publish(1, 0, number + 1, log::pattern(number + 1, 4000))) ++number;
    two.one.carrier->grown(*own, two.now);
  };
  fill();
  const std::uint64_t before = number;
  two.pass(10ms);
  fill();
  CHECK(number == before);
  LogWriter& copy = two.follow({1, {1, 5}}, 4 << 20);
  two.pass(20ms);
  CHECK(copy.published() == before);
  fill();
  CHECK(number > before + before / 2);
}

TEST_CASE("carrier: a copy that nobody reads stops at its window, and goes on when it is read",
          "[replication]") {
  Two two;
  LogWriter log = two.one.log(5, log::Retention::keep_all);
  const auto own = two.one.carrier->publish_to(log, {1, 5}, 2);
  constexpr std::uint64_t window = 512 << 10;
  LogWriter& copy = two.follow({1, {1, 5}}, window);
  LogReader reader = two.other.reader(copy);
  constexpr std::uint64_t count = 3000;
  for (std::uint64_t number = 1; number <= count; ++number) publish(log, number, 1000);
  two.one.carrier->grown(*own, two.now);
  two.pass(50ms);
  const std::uint64_t stopped_at = copy.published();
  CHECK(stopped_at < count);
  CHECK(stopped_at * (64 + 1024) <= window + 2048);
  CHECK(stopped_at * (64 + 1024) >= window - 2048);
  std::uint64_t read = 0;
  for (int round = 0; round < 1000 && read < count; ++round) {
    for (; const auto record = reader.peek(); reader.advance()) {
      CHECK(log::holds(record->payload, ++read, 1000));
      reader.release(record->chunk_ordinal);
    }
    two.pass(500us);
  }
  CHECK(read == count);
}

TEST_CASE("carrier: a record longer than the window passes, and the next one, too", "[replication]") {
  Two two;
  LogWriter log = two.one.log(5, log::Retention::recycle);
  const auto own = two.one.carrier->publish_to(log, {1, 5}, 2);
  LogWriter& copy = two.follow({1, {1, 5}}, 16 << 10);
  LogReader reader = two.other.reader(copy);
  for (std::uint64_t number = 1; number <= 8; ++number) {
    publish(log, number, 100000);
    two.one.carrier->grown(*own, two.now);
    for (int round = 0; round < 100 && !reader.peek(); ++round) two.pass(1ms);
    const auto record = reader.peek();
    REQUIRE(record.has_value());
    CHECK(log::holds(record->payload, number, 100000));
    reader.release(record->chunk_ordinal);
    reader.advance();
  }
}

TEST_CASE("carrier: large payloads of a log that keeps all come when they are pulled", "[replication]") {
  Two two;
  LogWriter log = two.one.log(5, log::Retention::keep_all);
  const auto own = two.one.carrier->publish_to(log, {1, 5}, 2);
  const LogName name{1, {1, 5}};
  LogWriter& copy = two.follow(name);
  LogReader reader = two.other.reader(copy);
  constexpr std::size_t size = 3'000'001;
  for (std::uint64_t number = 1; number <= 3; ++number) publish(log, number, number == 2 ? 40 : size);
  two.one.carrier->grown(*own, two.now);
  two.pass(2ms);
  const auto record = reader.peek();
  REQUIRE(record.has_value());
  CHECK((record->absent_bytes == size && record->absent_record == 1));
  std::vector<std::byte> first(size), third(size);
  int done = 0;
  const auto count_done = [&](bool is_complete) { done += is_complete ? 1 : 100; };
  REQUIRE(two.other.carrier->pull(name, 1, first, count_done).has_value());
  REQUIRE(two.other.carrier->pull(name, 3, third, count_done).has_value());
  CHECK(two.other.carrier->pull(name, 3, third, count_done).error().code() == Errc::already_exists);
  CHECK(two.other.carrier->pull({1, {1, 6}}, 3, third, count_done).error().code() == Errc::not_found);
  for (int round = 0; round < 200 && done < 2; ++round) {
    two.pass(1ms);
    CHECK(two.other.carrier->pulled_bytes() <= 2 << 20);
  }
  CHECK(done == 2);
  CHECK((log::holds(first, 1, size) && log::holds(third, 3, size)));
  // One that is not there is told, and so is one whose size is another.
  REQUIRE(two.other.carrier->pull(name, 4, third, count_done).has_value());
  two.pass(2ms);
  CHECK(done == 102);
}

TEST_CASE("carrier: what the log no longer has is told", "[replication]") {
  Two two;
  LogWriter log = two.one.log(5, log::Retention::recycle);
  // A reader of the own node that is ahead of everybody elsewhere.
  LogReader local = two.one.reader(log);
  for (std::uint64_t number = 1; number <= 400; ++number) {
    publish(log, number, 2000);
    while (local.peek()) local.advance();
    local.release(local.position_chunk());
  }
  REQUIRE(two.one.carrier->publish_to(log, {1, 5}, 2).has_value());
  two.follow({1, {1, 5}});
  two.pass(2ms);
  REQUIRE(two.other.heard.gones.size() == 1);
  CHECK((two.other.heard.gones[0] > 1 && two.other.heard.gones[0] <= 400));
}

TEST_CASE("carrier: a history is served by another process, and its end told", "[replication]") {
  Two two;
  LogWriter dead = two.one.log(5, log::Retention::keep_all);
  for (std::uint64_t number = 1; number <= 300; ++number) publish(dead, number, number % 100);
  // Rank 77's log, as a driver finds it in that rank's arena.
  two.one.found.arenas[77] = two.one.arena->own();
  LogWriter& copy = two.follow({77, {1, 5}});
  two.pass(20ms);
  CHECK(copy.published() == 300);
  CHECK(two.other.heard.ends == std::vector<std::uint64_t>{300});
}

namespace {

/// A driver that serves what process 1 has written, beside the two.
struct Three : Two {
  Three() {
    const EndpointNumber driver_number = driver_endpoint(0);
    driver.found.arenas[1] = one.arena->own();
    driver.found.strangers[2] = other.state;
    driver.carrier = std::make_unique<Carrier>(
        CarrierOptions{.identity = {.job = 9, .endpoint = driver_number, .incarnation = 1, .key = {1, 2}},
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
  Process driver{driver_endpoint(0), network};
};

}  // namespace

TEST_CASE("carrier: the driver serves what a silent writer has, from the first record on", "[replication]") {
  Three job;
  const LogName name{1, {1, 5}};
  LogWriter log = job.one.log(5, log::Retention::recycle);
  const auto own = job.one.carrier->publish_to(log, {1, 5}, 2);
  const std::size_t sizes[] = {0, 1, 48, 49, 1300, 1401, 1500, 20001, 100000};
  std::uint64_t number = 0;
  for (const std::size_t size : sizes) publish(log, ++number, size);
  LogWriter& copy = job.follow(name);
  LogReader reader = job.other.reader(copy);
  job.pass_silently(5ms);
  CHECK(copy.published() == 0);
  REQUIRE(job.catch_up(name));
  REQUIRE(job.catch_up(name));
  job.pass_silently(20ms);
  CHECK(job.driver.found.questions == 1);
  CHECK(copy.published() == number);
  number = 0;
  for (const std::size_t size : sizes) {
    const auto record = reader.peek();
    REQUIRE(record);
    CHECK(log::holds(record->payload, ++number, size));
    reader.advance();
  }
  // Once more, when there is more: one question for all logs there.
  publish(log, ++number, 77);
  REQUIRE(job.catch_up(name));
  job.pass_silently(5ms);
  CHECK(copy.published() == number);
  CHECK(job.driver.found.questions == 1);
  // The writer says all of it again, and what follows.
  publish(log, ++number, 7);
  job.one.carrier->grown(*own, job.now);
  job.pass_all(20ms);
  CHECK(copy.published() == number);
  CHECK((job.one.carrier->is_idle() && job.other.carrier->is_idle()));
  for (const Process* process : {&job.one, &job.other, &job.driver})
    CHECK(process->carrier->faults(FrameFault::malformed) == 0);
}

TEST_CASE("carrier: a catch-up with a log that is not there yet ends, and finds it later", "[replication]") {
  Three job;
  const LogName name{1, {1, 5}};
  LogWriter& copy = job.follow(name);
  REQUIRE(job.catch_up(name));
  job.pass_silently(2ms);
  CHECK(job.other.heard.ends == std::vector<std::uint64_t>{0});
  LogWriter log = job.one.log(5, log::Retention::recycle);
  REQUIRE(job.one.carrier->publish_to(log, {1, 5}, 2));
  publish(log, 1, 100);
  REQUIRE(job.catch_up(name));
  job.pass_silently(2ms);
  CHECK(copy.published() == 1);
  CHECK(job.other.carrier->catch_up(1, name).error().code() == Errc::invalid_argument);
  CHECK(job.other.carrier->catch_up(driver_endpoint(9), name).error().code() == Errc::invalid_argument);
  CHECK(job.catch_up({1, {1, 6}}).error().code() == Errc::invalid_argument);
}

TEST_CASE("carrier: a record that the writer has begun in pieces is completed by the driver",
          "[replication]") {
  Three job;
  const LogName name{1, {1, 5}};
  LogWriter log = job.one.log(5, log::Retention::recycle);
  const auto own = job.one.carrier->publish_to(log, {1, 5}, 2);
  LogWriter& copy = job.follow(name);
  LogReader reader = job.other.reader(copy);
  job.pass_all(1ms);
  publish(log, 1, 200000);
  job.one.carrier->grown(*own, job.now);  // as much as the window takes
  job.pass_silently(5ms);
  CHECK(copy.published() == 0);
  REQUIRE(job.catch_up(name));
  job.pass_silently(20ms);
  REQUIRE(copy.published() == 1);
  CHECK(log::holds(reader.peek()->payload, 1, 200000));
  publish(log, 2, 100000);
  job.one.carrier->grown(*own, job.now);
  job.pass_all(20ms);
  CHECK(copy.published() == 2);
  for (const Process* process : {&job.one, &job.other, &job.driver})
    CHECK(process->carrier->faults(FrameFault::malformed) == 0);
}

TEST_CASE("carrier: a copy begins anew with a history, and then follows its writer", "[replication]") {
  Three job;
  const LogName name{1, {1, 5}};
  LogWriter log = job.one.log(5, log::Retention::keep_all);
  const auto own = job.one.carrier->publish_to(log, {1, 5}, 2);
  for (std::uint64_t number = 1; number <= 300; ++number) publish(log, number, 100);
  job.follow(name);
  job.pass_all(20ms);
  job.other.begin(2);
  job.introduce();
  job.driver.found.strangers[2] = job.other.state;
  REQUIRE(job.other.carrier->meet(driver_endpoint(0), job.driver.state));
  auto copy = job.other.carrier->follow(1, name, {.begins_anew = true, .history = driver_endpoint(0)});
  REQUIRE(copy);
  CHECK((*copy)->published() == 0);
  LogReader reader = job.other.reader(**copy);
  job.pass_silently(20ms);
  REQUIRE((*copy)->published() == 300);
  CHECK(log::holds(reader.peek()->payload, 1, 100));
  publish(log, 301, 100);
  job.one.carrier->grown(*own, job.now);
  job.pass_all(20ms);
  CHECK((*copy)->published() == 301);
}

TEST_CASE("carrier: a keeper that begins anew goes on where its copy ends", "[replication]") {
  Two two;
  LogWriter log = two.one.log(5, log::Retention::keep_all);
  const auto own = two.one.carrier->publish_to(log, {1, 5}, 2);
  two.follow({1, {1, 5}});
  for (std::uint64_t number = 1; number <= 50; ++number) publish(log, number, 100);
  two.one.carrier->grown(*own, two.now);
  two.pass(10ms);
  two.other.begin(2);
  two.introduce();
  LogWriter& copy = two.follow({1, {1, 5}});
  CHECK(copy.published() == 50);
  for (std::uint64_t number = 51; number <= 80; ++number) publish(log, number, 100);
  two.one.carrier->grown(*own, two.now);
  two.pass(10ms);
  CHECK(copy.published() == 80);
  LogReader reader = two.other.reader(copy);
  for (std::uint64_t number = 1; number <= 80; ++number, reader.advance())
    CHECK(log::holds(reader.peek()->payload, number, 100));
}

TEST_CASE("carrier: frames of another life, of strangers and forged ones change nothing", "[replication]") {
  Two two;
  LogWriter log = two.one.log(5, log::Retention::keep_all);
  const auto own = two.one.carrier->publish_to(log, {1, 5}, 2);
  LogWriter& copy = two.follow({1, {1, 5}});
  two.pass(1ms);
  // The first life's frame is under way when the second one is announced.
  publish(log, 1, 30);
  two.one.carrier->grown(*own, two.now);
  PeerState next = two.one.state;
  next.incarnation = 2;
  REQUIRE(two.other.carrier->meet(1, next).has_value());
  CHECK_FALSE(two.other.carrier->meet(1, two.one.state).has_value());
  two.pass(2ms);
  CHECK(copy.published() == 0);
  CHECK(two.other.carrier->faults(FrameFault::other_life) > 0);

  const auto stranger = two.network.make_link({.datagram_bytes_max = 1472});
  REQUIRE(stranger->meet(2, two.other.state.small).has_value());
  const auto send = [&](std::uint32_t job, EndpointNumber from, SipHashKey key, int body) {
    std::vector<std::byte> room(1472);
    FrameWriter writer(room, 1472);
    if (body == 1) (void)writer.put(0, Credit{5});
    FrameHead head{
        .job = job, .from = from, .to = 2, .from_incarnation = 2, .to_incarnation = 1, .number = 1};
    const Datagram datagram = writer.seal(head, key);
    stranger->send(2, std::span(&datagram, 1));
    two.pass(100us);
  };
  send(8, 1, {1, 2}, 1);
  CHECK(two.other.carrier->faults(FrameFault::other_job) == 1);
  send(9, 1, {1, 3}, 1);
  CHECK(two.other.carrier->faults(FrameFault::forged) == 1);
  const auto before = two.other.carrier->faults(FrameFault::other_life);
  send(9, 5, {1, 2}, 1);
  CHECK(two.other.carrier->faults(FrameFault::other_life) == before + 1);
  CHECK(two.other.carrier->faults(FrameFault::malformed) == 0);
}

TEST_CASE("carrier: a writer that begins anew is not held by what its keeper has", "[replication]") {
  Two two;
  std::uint64_t number = 0;
  {
    LogWriter log = two.one.log(5, log::Retention::recycle);
    const auto own = two.one.carrier->publish_to(log, {1, 5}, 2);
    two.follow({1, {1, 5}}, 4 << 20);
    two.pass(1ms);
    while (log.publish(1, 0, number + 1, log::pattern(number + 1, 4000))) ++number;
    two.one.carrier->grown(*own, two.now);
    // All comes there, and no acknowledgement comes back.
    two.network.cut(2, 0);
    two.pass(20ms);
  }
  two.one.begin(2);
  two.network.heal_all();
  LogWriter log = two.one.log(5, log::Retention::recycle);
  REQUIRE(two.one.carrier->publish_to(log, {1, 5}, 2).has_value());
  CHECK_FALSE(log.may_reserve(4000));
  two.introduce();
  two.pass(2ms);
  CHECK(log.may_reserve(4000));
}

TEST_CASE("carrier: a peer that is done holds nothing, and what it has not acknowledged counts as applied",
          "[replication]") {
  Two two;
  LogWriter log = two.one.log(5, log::Retention::recycle);
  const auto own = two.one.carrier->publish_to(log, {1, 5}, 2);
  two.follow({1, {1, 5}}, 4 << 20);
  two.pass(1ms);
  two.network.cut(2, 0);
  std::uint64_t number = 0;
  while (log.publish(1, 0, number + 1, log::pattern(number + 1, 4000))) ++number;
  two.one.carrier->grown(*own, two.now);
  two.pass(20ms);
  CHECK_FALSE(two.one.carrier->is_idle());
  CHECK_FALSE(log.may_reserve(4000));

  two.other.state.is_done = true;
  REQUIRE(two.one.carrier->meet(2, two.other.state).has_value());
  CHECK(two.one.carrier->is_idle());
  CHECK(log.may_reserve(4000));
  two.network.heal_all();
  two.pass(300ms);
  CHECK(two.one.carrier->is_idle());
  CHECK(two.one.carrier->due() == never);

  // Logs that are published to it later are not held either.
  LogWriter later = two.one.log(6, log::Retention::recycle);
  REQUIRE(two.one.carrier->publish_to(later, {1, 6}, 2).has_value());
  for (int i = 0; i < 1000; ++i) publish(later, 1, 4000);

  two.other.state.is_done = false;
  two.other.state.incarnation = 2;
  CHECK(two.one.carrier->meet(2, two.other.state).error().code() == Errc::invalid_argument);
}

TEST_CASE("carrier: a pull fails when its holder is done", "[replication]") {
  Two two;
  LogWriter log = two.one.log(5, log::Retention::keep_all);
  const auto own = two.one.carrier->publish_to(log, {1, 5}, 2);
  two.follow({1, {1, 5}});
  publish(log, 1, 1 << 20);
  two.one.carrier->grown(*own, two.now);
  two.pass(10ms);
  two.network.cut(1, 0);
  std::vector<std::byte> bytes(1 << 20);
  int failed = 0;
  const auto note = [&failed](bool is_complete) { failed += is_complete ? 0 : 1; };
  REQUIRE(two.other.carrier->pull({1, {1, 5}}, 1, bytes, note).has_value());
  two.pass(1ms);
  two.one.state.is_done = true;
  REQUIRE(two.other.carrier->meet(1, two.one.state).has_value());
  CHECK(failed == 0);
  two.pass(1ms);
  CHECK(failed == 1);
  CHECK(two.other.carrier->pulled_bytes() == 0);
  CHECK(two.other.carrier->pull({1, {1, 5}}, 1, bytes, note).error().code() == Errc::not_found);
}

TEST_CASE("carrier: only links are looked at while peers are idle, and only busy peers are served",
          "[replication]") {
  Two two;
  std::vector<std::unique_ptr<links::FakeLink>> others;
  for (EndpointNumber number = 10; number < 1010; ++number) {
    others.push_back(two.network.make_link({.datagram_bytes_max = 1472}));
    const PeerState state{.small = others.back()->address(), .bulk = others.back()->address()};
    REQUIRE(two.one.carrier->meet(number, state).has_value());
  }
  LogWriter log = two.one.log(5, log::Retention::recycle);
  const auto own = two.one.carrier->publish_to(log, {1, 5}, 2);
  LogWriter& copy = two.follow({1, {1, 5}});
  LogReader reader = two.other.reader(copy);
  two.pass(1ms);
  CHECK(two.one.carrier->active_peers() <= 1);
  for (std::uint64_t number = 1; number <= 100; ++number) {
    publish(log, number, 100);
    two.one.carrier->grown(*own, two.now);
    CHECK(two.one.carrier->active_peers() == 1);
    two.pass(20us);
    reader.peek();
    reader.advance();
  }
  two.pass(20ms);
  CHECK(two.one.carrier->active_peers() == 0);
  CHECK(two.one.carrier->due() == never);
}

TEST_CASE("carrier: it is not idle before each peer has all, followed or not", "[replication]") {
  Two two;
  LogWriter log = two.one.log(5, log::Retention::recycle);
  REQUIRE(two.one.carrier->publish_to(log, {1, 5}, 2).has_value());
  two.pass(1ms);
  CHECK(two.one.carrier->is_idle());
  publish(log, 1, 8);
  two.pass(1ms);
  CHECK_FALSE(two.one.carrier->is_idle());
  // What credit holds back is not there either.
  for (std::uint64_t number = 2; number <= 40; ++number) publish(log, number, 4000);
  LogWriter& copy = two.follow({1, {1, 5}}, 16 << 10);
  LogReader reader = two.other.reader(copy);
  two.pass(50ms);
  CHECK_FALSE(two.one.carrier->is_idle());
  for (int i = 0; i < 200 && !two.one.carrier->is_idle(); ++i) {
    while (reader.peek()) {
      reader.advance();
      reader.release(reader.position_chunk());
    }
    two.pass(1ms);
  }
  CHECK(copy.published() == 40);
  CHECK(two.one.carrier->is_idle());
}

TEST_CASE("carrier: push sends all that has grown, and gives credit, without a timer", "[replication]") {
  Two two;
  LogWriter first = two.one.log(5, log::Retention::recycle), second = two.one.log(6, log::Retention::recycle);
  REQUIRE(two.one.carrier->publish_to(first, {1, 5}, 2).has_value());
  REQUIRE(two.one.carrier->publish_to(second, {1, 6}, 2).has_value());
  LogWriter& copy = two.follow({1, {1, 5}});
  LogWriter& other_copy = two.follow({1, {1, 6}});
  two.pass(1ms);
  publish(first, 1, 8);
  publish(second, 1, 8);
  two.one.carrier->push(2, two.now);
  two.pass(20us);  // the network's delay is at most 10
  CHECK((copy.published() == 1 && other_copy.published() == 1));
}
