#pragma once

// What every implementation of topics::Transport must do, as test cases. Include it in one source per
// implementation, after defining
//
//   struct TransportFixture { std::unique_ptr<llamada::topics::Transport> attach(); };   // a new domain each
//
// attach() gives a new application of the fixture's domain; they may be destroyed in any order, before the
// fixture. At least 8 applications and 64 MiB for each are needed.

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "llamada/topics/domain_participant.hpp"
#include "test.hpp"

namespace llamada::topics::conformance {

using namespace std::chrono_literals;

/// An application with a participant.
struct Peer {
  explicit Peer(TransportFixture& fixture) : transport(fixture.attach()), participant(*transport, clock) {}
  SystemClock clock;
  std::unique_ptr<Transport> transport;
  DomainParticipant participant;
};

inline qos::DataWriterQos writer_qos(qos::DurabilityKind durability = qos::DurabilityKind::volatile_) {
  qos::DataWriterQos qos;
  qos.history.kind = qos::HistoryKind::keep_all;
  qos.durability.kind = durability;
  qos.reliability.max_blocking_time = 60s;
  return qos;
}

inline qos::DataReaderQos reader_qos(qos::DurabilityKind durability = qos::DurabilityKind::volatile_) {
  qos::DataReaderQos qos;
  qos.reliability.kind = qos::ReliabilityKind::reliable;
  qos.history.kind = qos::HistoryKind::keep_all;
  qos.durability.kind = durability;
  return qos;
}

inline std::unique_ptr<DataWriter> make_writer(Peer& peer, const qos::DataWriterQos& qos = writer_qos(),
                                               const char* topic = "Square") {
  auto writer = peer.participant.create_writer(topic, "ShapeType", qos);
  REQUIRE(writer.has_value());
  return std::move(*writer);
}

inline std::unique_ptr<DataReader> make_reader(Peer& peer, const qos::DataReaderQos& qos = reader_qos(),
                                               const char* topic = "Square") {
  auto reader = peer.participant.create_reader(topic, "ShapeType", qos);
  REQUIRE(reader.has_value());
  return std::move(*reader);
}

/// Polls both until it holds; a watchdog of a minute.
template <typename Condition>
void settle(Peer& one, Peer& other, Condition condition) {
  for (int i = 0; i < 60000 && !condition(); ++i) {
    REQUIRE(one.participant.poll().has_value());
    REQUIRE(other.participant.poll().has_value());
    if (!condition()) std::this_thread::sleep_for(1ms);
  }
  REQUIRE(condition());
}

inline void settle_match(Peer& one, DataWriter& writer, Peer& other, DataReader& reader,
                         std::size_t count = 1) {
  settle(one, other, [&] { return writer.matched_count() >= count && reader.matched_count() >= 1; });
}

inline std::vector<std::byte> bytes_of(std::uint64_t number, std::size_t size = 8) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>((number >> (i % 8 * 8)) + i / 8);
  return bytes;
}

inline bool is(const std::optional<Sample>& sample, std::uint64_t number, std::size_t size = 8) {
  return sample && std::ranges::equal(sample->data(), bytes_of(number, size));
}

TEST_CASE("transport: applications find each other, and see who leaves and who comes after",
          "[conformance]") {
  TransportFixture fixture;
  auto first = fixture.attach();
  auto second = fixture.attach();
  REQUIRE(first->poll().has_value());
  CHECK(first->slot() != second->slot());
  CHECK(first->peer(first->slot()).id != 0);
  const auto slot = second->slot();
  REQUIRE(slot < first->slot_count());
  const auto id = first->peer(slot).id;
  CHECK(id != 0);
  CHECK(first->peer(slot).arena.ready());
  second.reset();
  for (int i = 0; i < 60000 && first->peer(slot).id == id; ++i) {
    REQUIRE(first->poll().has_value());
    std::this_thread::sleep_for(1ms);
  }
  CHECK(first->peer(slot).id != id);
  auto third = fixture.attach();
  REQUIRE(first->poll().has_value());
  CHECK(first->peer(third->slot()).id != id);
  first->release_replaced();
}

TEST_CASE("transport: a wait ends by a wake, by its time, and does not begin when there is something",
          "[conformance]") {
  TransportFixture fixture;
  auto sleeper = fixture.attach();
  auto waker = fixture.attach();
  REQUIRE(sleeper->poll().has_value());
  REQUIRE(waker->poll().has_value());
  CHECK(sleeper->wait([] { return true; }, 1h).has_value());
  CHECK(sleeper->wait([] { return false; }, 1ms).has_value());
  std::atomic<int> ball{0};  // each side waits for the other's stroke
  std::thread other([&] {
    for (int stroke = 0; stroke < 200; stroke += 2) {
      while (ball.load() != stroke + 1) (void)waker->wait([&] { return ball.load() == stroke + 1; }, 100ms);
      ball.store(stroke + 2);
      waker->wake(sleeper->slot());
    }
  });
  for (int stroke = 0; stroke < 200; stroke += 2) {
    ball.store(stroke + 1);
    sleeper->wake(waker->slot());
    while (ball.load() != stroke + 2) (void)sleeper->wait([&] { return ball.load() == stroke + 2; }, 100ms);
  }
  other.join();
}

TEST_CASE("topics: a matched reader takes all samples in order, in place, of every size", "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture), receiver(fixture);
  auto writer = make_writer(sender);
  auto reader = make_reader(receiver);
  settle_match(sender, *writer, receiver, *reader);
  std::uint64_t number = 0;
  for (std::size_t size : {0, 1, 48, 49, 1000, 5000, 100000, 3000000}) {
    auto loan = writer->loan(size);
    REQUIRE(loan.has_value());
    std::ranges::copy(bytes_of(number, size), loan->payload().begin());
    writer->write(std::move(*loan), number);
    REQUIRE(reader->wait_for_data(60s).has_value());
    auto sample = reader->take();
    REQUIRE(is(sample, number, size));
    CHECK(sample->instance() == number);
    CHECK(sample->writer_slot() == sender.transport->slot());
    ++number;
  }
  CHECK_FALSE(reader->take().has_value());
}

TEST_CASE("topics: topics and types keep apart", "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture), receiver(fixture);
  auto writer = make_writer(sender);
  auto circle = make_reader(receiver, reader_qos(), "Circle");
  auto other_type = receiver.participant.create_reader("Square", "OtherType", reader_qos());
  auto square = make_reader(receiver);
  settle_match(sender, *writer, receiver, *square);
  REQUIRE(writer->write(bytes_of(1)).has_value());
  CHECK(is(square->take(), 1));
  CHECK_FALSE(circle->take().has_value());
  CHECK_FALSE((*other_type)->take().has_value());
  CHECK(writer->matched_count() == 1);
}

TEST_CASE("topics: a late joiner gets the history of TRANSIENT_LOCAL, and none of VOLATILE",
          "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture);
  const auto transient = qos::DurabilityKind::transient_local;
  auto writer = make_writer(sender, writer_qos(transient));
  for (std::uint64_t number = 0; number < 5000; ++number)
    REQUIRE(writer->write(bytes_of(number, 100)).has_value());
  Peer receiver(fixture);
  auto late = make_reader(receiver, reader_qos(transient));
  auto volatile_reader = make_reader(receiver);
  settle(sender, receiver,
         [&] { return writer->matched_count() == 2 && volatile_reader->matched_count() == 1; });
  for (std::uint64_t number = 5000; number < 6000; ++number)
    REQUIRE(writer->write(bytes_of(number, 100)).has_value());
  for (std::uint64_t number = 0; number < 6000; ++number) REQUIRE(is(late->take(), number, 100));
  for (std::uint64_t number = 5000; number < 6000; ++number)
    REQUIRE(is(volatile_reader->take(), number, 100));
  CHECK_FALSE(late->take().has_value());
  CHECK_FALSE(volatile_reader->take().has_value());
}

TEST_CASE(
    "topics: a VOLATILE writer without readers keeps nothing, and a joiner gets what is written from the "
    "match on",
    "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture), receiver(fixture);
  auto writer = make_writer(sender);
  for (std::uint64_t number = 0; number < 50000; ++number)
    REQUIRE(writer->write(bytes_of(number, 1000)).has_value());
  CHECK(sender.transport->arena().pool_live() < 4 << 20);
  auto reader = make_reader(receiver);
  settle_match(sender, *writer, receiver, *reader);
  REQUIRE(writer->write(bytes_of(77)).has_value());
  CHECK(is(reader->take(), 77));
}

TEST_CASE("topics: a pair that does not fit is not matched and both sides say why", "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture), receiver(fixture);
  auto writer = make_writer(sender);
  auto reader = make_reader(receiver, reader_qos(qos::DurabilityKind::transient_local));
  settle(sender, receiver, [&] {
    return writer->offered_incompatible_qos().total_count == 1 &&
           reader->requested_incompatible_qos().total_count == 1;
  });
  CHECK(writer->matched_count() == 0);
  CHECK(reader->matched_count() == 0);
  CHECK_FALSE(writer->offered_incompatible_qos().reason.empty());
  CHECK_FALSE(reader->requested_incompatible_qos().reason.empty());
}

TEST_CASE("topics: a slow reader holds the writer back, for max_blocking_time", "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture), receiver(fixture);
  auto qos = writer_qos();
  qos.reliability.max_blocking_time = 5ms;
  auto writer = make_writer(sender, qos);
  auto reader = make_reader(receiver);
  settle_match(sender, *writer, receiver, *reader);
  std::uint64_t written = 0, taken = 0;
  Status status;
  while ((status = writer->write(bytes_of(written, 10000)))) REQUIRE(++written < 10000);
  CHECK(status.error().code() == Errc::timeout);
  while (is(reader->take(), taken, 10000)) ++taken;
  CHECK(taken == written);
  CHECK(writer->write(bytes_of(written, 10000)).has_value());
  CHECK(is(reader->take(), written, 10000));
}

TEST_CASE("topics: a reader that is deleted, or whose application is gone, holds nobody", "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture);
  auto writer = make_writer(sender);
  for (bool whole_application : {false, true}) {
    auto receiver = std::make_unique<Peer>(fixture);
    auto reader = make_reader(*receiver);
    settle_match(sender, *writer, *receiver, *reader);
    reader.reset();
    if (whole_application) receiver.reset();
    for (std::uint64_t number = 0; number < 2000; ++number)
      REQUIRE(writer->write(bytes_of(number, 1000)).has_value());
    CHECK(writer->matched_count() == 0);
  }
}

TEST_CASE("topics: a sample on loan stays as it is until it is given back", "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture), receiver(fixture);
  auto qos = writer_qos();
  qos.reliability.max_blocking_time = 1ms;
  auto writer = make_writer(sender, qos);
  auto reader = make_reader(receiver);
  settle_match(sender, *writer, receiver, *reader);
  REQUIRE(writer->write(bytes_of(1, 5000)).has_value());
  auto loan = reader->take();
  std::uint64_t written = 2;
  for (; writer->write(bytes_of(written, 5000)).has_value(); ++written) {
    REQUIRE(is(reader->take(), written, 5000));
    REQUIRE(written < 10000);
  }
  CHECK(is(loan, 1, 5000));
  loan.reset();
  CHECK(writer->write(bytes_of(written, 5000)).has_value());
}

TEST_CASE("topics: KEEP_LAST gives the newest of each instance", "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture), receiver(fixture);
  auto writer = make_writer(sender);
  auto qos = reader_qos();
  qos.history = {.kind = qos::HistoryKind::keep_last, .depth = 2};
  auto reader = make_reader(receiver, qos);
  settle_match(sender, *writer, receiver, *reader);
  for (std::uint64_t number = 0; number < 1000; ++number)
    REQUIRE(writer->write(bytes_of(number), number % 3).has_value());
  for (std::uint64_t number = 994; number < 1000; ++number) {
    auto sample = reader->take();
    REQUIRE(is(sample, number));
    CHECK(sample->instance() == number % 3);
  }
  CHECK_FALSE(reader->take().has_value());
}

TEST_CASE("topics: read leaves a sample for take", "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture), receiver(fixture);
  auto writer = make_writer(sender);
  auto reader = make_reader(receiver);
  settle_match(sender, *writer, receiver, *reader);
  for (std::uint64_t number = 0; number < 1000; ++number)
    REQUIRE(writer->write(bytes_of(number)).has_value());
  for (std::uint64_t number = 0; number < 1000; ++number) REQUIRE(is(reader->read(), number));
  CHECK_FALSE(reader->read().has_value());
  for (std::uint64_t number = 0; number < 1000; ++number) REQUIRE(is(reader->take(), number));
  CHECK_FALSE(reader->take().has_value());
}

TEST_CASE("topics: max_samples bounds what a reader holds and what a writer keeps", "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture), receiver(fixture);
  const auto transient = qos::DurabilityKind::transient_local;
  auto limited = writer_qos(transient);
  limited.resource_limits.max_samples = 10;
  auto writer = make_writer(sender, limited);
  auto qos = reader_qos();
  qos.resource_limits.max_samples = 2;
  auto reader = make_reader(receiver, qos);
  settle_match(sender, *writer, receiver, *reader);
  for (std::uint64_t number = 0; number < 10; ++number) REQUIRE(writer->write(bytes_of(number)).has_value());
  CHECK(writer->write(bytes_of(10)).error().code() == Errc::out_of_resources);
  auto first = reader->take();
  auto second = reader->take();
  CHECK(is(first, 0));
  CHECK(is(second, 1));
  CHECK_FALSE(reader->take().has_value());
  first.reset();
  CHECK(is(reader->take(), 2));
}

TEST_CASE("topics: what a writer left when it went is still read", "[conformance]") {
  TransportFixture fixture;
  Peer receiver(fixture);
  auto reader = make_reader(receiver);
  for (bool whole_application : {false, true}) {
    auto sender = std::make_unique<Peer>(fixture);
    auto writer = make_writer(*sender);
    settle_match(*sender, *writer, receiver, *reader);
    for (std::uint64_t number = 0; number < 100; ++number)
      REQUIRE(writer->write(bytes_of(number, 500)).has_value());
    writer.reset();
    if (whole_application) sender.reset();
    for (std::uint64_t number = 0; number < 100; ++number) REQUIRE(is(reader->take(), number, 500));
    CHECK_FALSE(reader->take().has_value());
    for (int i = 0; i < 60000 && reader->matched_count() > 0; ++i)
      REQUIRE(receiver.participant.poll().has_value());
    CHECK(reader->matched_count() == 0);
  }
}

TEST_CASE("topics: several writers and readers, also in one application", "[conformance]") {
  TransportFixture fixture;
  Peer one(fixture), other(fixture);
  auto first = make_writer(one);
  auto second = make_writer(other);
  auto same = make_reader(one);
  auto far = make_reader(other);
  settle(one, other, [&] {
    return first->matched_count() == 2 && second->matched_count() == 2 && same->matched_count() == 2 &&
           far->matched_count() == 2;
  });
  for (std::uint64_t number = 0; number < 500; ++number) {
    REQUIRE(first->write(bytes_of(number), 1).has_value());
    REQUIRE(second->write(bytes_of(number), 2).has_value());
  }
  for (DataReader* reader : {same.get(), far.get()}) {
    std::uint64_t next[3] = {};
    for (int i = 0; i < 1000; ++i) {
      auto sample = reader->take();
      REQUIRE(sample.has_value());
      REQUIRE(is(sample, next[sample->instance()]++));
    }
    CHECK_FALSE(reader->take().has_value());
  }
}

TEST_CASE("topics: what is not built is refused with the policy's name", "[conformance]") {
  TransportFixture fixture;
  Peer peer(fixture);
  auto refusal = [&](const qos::DataWriterQos& qos) {
    auto made = peer.participant.create_writer("Square", "ShapeType", qos);
    REQUIRE_FALSE(made.has_value());
    CHECK(made.error().code() == Errc::unsupported);
    return made.error().text();
  };
  CHECK(refusal(qos::DataWriterQos{}).find("HISTORY") != std::string::npos);
  auto qos = writer_qos();
  qos.reliability.kind = qos::ReliabilityKind::best_effort;
  CHECK(refusal(qos).find("RELIABILITY") != std::string::npos);
  qos = writer_qos();
  qos.liveliness.lease_duration = 1s;
  CHECK(refusal(qos).find("LIVELINESS") != std::string::npos);
  qos = writer_qos();
  qos.resource_limits.max_samples = 5;
  CHECK(refusal(qos).find("RESOURCE_LIMITS") != std::string::npos);
}

TEST_CASE("topics: a writer and a reader in two threads, blocked and woken", "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture), receiver(fixture);
  auto writer = make_writer(sender);
  auto reader = make_reader(receiver);
  settle_match(sender, *writer, receiver, *reader);
  constexpr std::uint64_t sample_count = 20000;
  std::atomic<bool> written{true};
  std::thread thread([&] {
    for (std::uint64_t number = 0; number < sample_count; ++number)
      if (!writer->write(bytes_of(number, number % 7 == 0 ? 6000 : 24))) written = false;
  });
  std::uint64_t wrong = 0;
  for (std::uint64_t number = 0; number < sample_count && wrong == 0; ++number) {
    if (!reader->wait_for_data(60s)) ++wrong;
    wrong += !is(reader->take(), number, number % 7 == 0 ? 6000 : 24);
  }
  thread.join();
  CHECK(wrong == 0);
  CHECK(written);
}

}  // namespace llamada::topics::conformance
