#include "llamada/replication/carrier.hpp"

#include "carrier_processes.hpp"

using namespace llamada;
using namespace llamada::replication;

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
  // A true frame that is sent again says nothing, not even that its sender lives.
  send(9, 1, {1, 2}, 1);
  const Time heard_at = two.other.carrier->heard_at(1);
  CHECK(heard_at > Time{0});
  CHECK(two.other.carrier->faults(FrameFault::repeated) == 0);
  send(9, 1, {1, 2}, 1);
  CHECK(two.other.carrier->faults(FrameFault::repeated) == 1);
  CHECK(two.other.carrier->heard_at(1) == heard_at);
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
  CHECK_FALSE(two.one.carrier->is_idle([](EndpointNumber peer) { return peer == 2; }));
  CHECK(two.one.carrier->is_idle([](EndpointNumber peer) { return peer != 2; }));
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

TEST_CASE("carrier: a later cut is held until this node has begun it, and an earlier one is not",
          "[replication]") {
  // The low half of the number decides, also where it begins again from 0.
  const std::uint64_t first = GENERATE(0, 1, 7, 0xffffffffULL);
  const std::size_t size = GENERATE(8, 20'000);
  Two two;
  two.one.cut = two.other.cut = first;
  LogWriter log = two.one.log(5, log::Retention::recycle);
  const auto own = two.one.carrier->publish_to(log, {1, 5}, 2);
  LogWriter& copy = two.follow({1, {1, 5}});
  two.pass(1ms);
  publish(log, 1, size);
  two.one.carrier->grown(*own, two.now);
  two.pass(5ms);
  CHECK(copy.published() == 1);
  two.one.cut = first + 1;
  publish(log, 2, size);
  two.one.carrier->grown(*own, two.now);
  two.pass(20ms);
  CHECK(copy.published() == 1);
  CHECK_FALSE(two.one.carrier->is_idle());
  two.other.cut = first + 1;
  two.pass(20ms);
  CHECK(copy.published() == 2);
  CHECK(two.one.carrier->is_idle());
  two.other.cut = first + 2;
  publish(log, 3, size);
  two.one.carrier->grown(*own, two.now);
  two.pass(5ms);
  CHECK(copy.published() == 3);
  CHECK((two.one.carrier->faults(FrameFault::malformed) == 0));
}
