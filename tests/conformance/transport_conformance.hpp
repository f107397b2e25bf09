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
#include <deque>
#include <initializer_list>
#include <map>
#include <optional>
#include <thread>
#include <vector>

#include "llamada/topics/participant.hpp"
#include "test.hpp"

namespace llamada::topics::conformance {

using namespace std::chrono_literals;

/// An application with a participant.
struct Peer {
  explicit Peer(TransportFixture& fixture, DiscoveryEvents* discovery = nullptr,
                ParticipantOptions options = {})
      : transport(fixture.attach()), participant(*transport, clock, std::move(options), discovery) {}
  SystemClock clock;
  std::unique_ptr<Transport> transport;
  Participant participant;
};

/// A reader's events as they came.
struct Reader final : ReaderEvents {
  bool on_sample(const EndpointId& writer, Sample&& sample) override {
    if (samples.size() >= room) return false;
    sample.let_evacuate(evacuates);
    samples.push_back({writer, std::move(sample)});
    return true;
  }
  void on_matched(const EndpointInfo& writer) override { matched.push_back(writer); }
  void on_qos_changed(const EndpointInfo& writer) override { changed.push_back(writer); }
  void on_unmatched(const EndpointId& writer, bool died) override { unmatched.push_back({writer, died}); }
  void on_liveliness_changed(const EndpointId& writer, bool alive) override {
    liveliness.push_back({writer, alive});
  }
  void on_incompatible(const EndpointInfo&, const std::vector<qos::Incompatibility>& why) override {
    incompatible.push_back(why);
  }
  void on_samples_lost(const EndpointId&, std::uint64_t count) override { lost += count; }

  std::optional<Sample> take() {
    if (samples.empty()) return std::nullopt;
    Sample sample = std::move(samples.front().second);
    samples.pop_front();
    return sample;
  }

  std::size_t room = SIZE_MAX;
  bool evacuates = true;
  std::deque<std::pair<EndpointId, Sample>> samples;
  std::vector<EndpointInfo> matched, changed;
  std::vector<std::pair<EndpointId, bool>> unmatched, liveliness;
  std::vector<std::vector<qos::Incompatibility>> incompatible;
  std::uint64_t lost = 0;
  std::unique_ptr<ReaderEndpoint> endpoint;
};

struct Writer final : WriterEvents {
  void on_matched(const EndpointInfo& reader) override { matched.push_back(reader); }
  void on_qos_changed(const EndpointInfo& reader) override { changed.push_back(reader); }
  void on_unmatched(const EndpointId& reader, bool died) override { unmatched.push_back({reader, died}); }
  void on_incompatible(const EndpointInfo&, const std::vector<qos::Incompatibility>& why) override {
    incompatible.push_back(why);
  }
  void on_liveliness_lost() override { ++liveliness_lost; }

  std::vector<EndpointInfo> matched, changed;
  std::vector<std::pair<EndpointId, bool>> unmatched;
  std::vector<std::vector<qos::Incompatibility>> incompatible;
  int liveliness_lost = 0;
  std::unique_ptr<WriterEndpoint> endpoint;
};

inline constexpr auto transient_local = qos::DurabilityKind::transient_local;
inline constexpr auto volatile_ = qos::DurabilityKind::volatile_;

/// RELIABLE KEEP_ALL.
inline EndpointSpec writer_spec(qos::DurabilityKind durability = volatile_, std::string topic = "Square") {
  qos::DataWriterQos qos;
  qos.history.kind = qos::HistoryKind::keep_all;
  qos.durability.kind = durability;
  return {std::move(topic), "ShapeType", 7, true, qos::endpoint_qos(qos, {}), 0};
}

inline EndpointSpec reader_spec(qos::DurabilityKind durability = volatile_, std::string topic = "Square") {
  qos::DataReaderQos qos;
  qos.reliability.kind = qos::ReliabilityKind::reliable;
  qos.history.kind = qos::HistoryKind::keep_all;
  qos.durability.kind = durability;
  return {std::move(topic), "ShapeType", 7, true, qos::endpoint_qos(qos, {}), 0};
}

inline EndpointSpec best_effort(EndpointSpec spec) {
  spec.qos.datareader.reliability.kind = qos::ReliabilityKind::best_effort;
  spec.qos.datawriter.reliability.kind = qos::ReliabilityKind::best_effort;
  return spec;
}

inline void open(Peer& peer, Writer& writer, const EndpointSpec& spec = writer_spec()) {
  auto made = peer.participant.create_writer(spec, writer);
  if (!made) FAIL(made.error().text());
  writer.endpoint = std::move(*made);
}

inline void open(Peer& peer, Reader& reader, const EndpointSpec& spec = reader_spec()) {
  auto made = peer.participant.create_reader(spec, reader);
  if (!made) FAIL(made.error().text());
  reader.endpoint = std::move(*made);
}

/// Polls all until it holds; a watchdog of a minute.
template <typename Condition>
void settle(std::initializer_list<Peer*> peers, Condition condition) {
  const auto begin = std::chrono::steady_clock::now();
  while (!condition()) {
    for (Peer* peer : peers) REQUIRE(peer->participant.poll().has_value());
    if (condition()) return;
    if (std::chrono::steady_clock::now() - begin > 60s) FAIL("nothing happened for a minute");
    std::this_thread::sleep_for(100us);
  }
}

inline void settle_match(Peer& one, Writer& writer, Peer& other, Reader& reader, std::size_t count = 1) {
  settle({&one, &other},
         [&] { return writer.endpoint->matched_count() >= count && reader.endpoint->matched_count() >= 1; });
}

inline std::vector<std::byte> bytes_of(std::uint64_t number, std::size_t size = 8) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>((number >> (i % 8 * 8)) + i / 8);
  return bytes;
}

inline bool is(const Sample& sample, std::uint64_t number, std::size_t size = 8) {
  return std::ranges::equal(sample.data(), bytes_of(number, size));
}
inline bool is(const std::optional<Sample>& sample, std::uint64_t number, std::size_t size = 8) {
  return sample && is(*sample, number, size);
}

inline SampleHeader header_of(std::uint64_t number) {
  SampleHeader header;
  header.source_timestamp_ns = static_cast<std::int64_t>(number * 1000);
  header.instance = number;
  return header;
}

inline bool write(Writer& writer, std::uint64_t number, std::size_t size = 8) {
  return writer.endpoint->publish(bytes_of(number, size), header_of(number)).has_value();
}

/// The next sample, which is to be there once all is absorbed.
inline std::optional<Sample> take(Peer& peer, Reader& reader) {
  if (reader.samples.empty()) REQUIRE(peer.participant.poll().has_value());
  return reader.take();
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

TEST_CASE("topics: a matched reader gets all samples in order, whole, of every size", "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture), receiver(fixture);
  Writer writer;
  Reader reader;
  open(sender, writer);
  open(receiver, reader);
  settle_match(sender, writer, receiver, reader);
  std::uint64_t number = 1;
  for (std::size_t size : {0, 1, 24, 25, 40, 41, 48, 49, 1000, 5000, 100000, 3000000})
    for (bool extended : {false, true})
      for (bool in_place : {false, true}) {
        SampleHeader header = header_of(number);
        header.kind = number % 2 == 0 ? ChangeKind::disposed : ChangeKind::alive;
        if (extended) {
          header.coherent_set = 17;
          header.group_sequence = number << 40;
        }
        if (in_place) {
          auto loan = writer.endpoint->loan(size);
          REQUIRE(loan.has_value());
          REQUIRE(loan->data().size() == size);
          std::ranges::copy(bytes_of(number, size), loan->data().begin());
          REQUIRE(writer.endpoint->publish(std::move(*loan), header).value() == number);
        } else {
          REQUIRE(writer.endpoint->publish(bytes_of(number, size), header).value() == number);
        }
        settle({&receiver}, [&] { return !reader.samples.empty(); });
        CHECK(reader.samples.front().first == writer.endpoint->id());
        auto sample = reader.take();
        REQUIRE(is(sample, number, size));
        CHECK(sample->in_place() == (size > 48));
        header.sequence_number = number;
        CHECK(sample->header() == header);
        ++number;
      }
  CHECK_FALSE(take(receiver, reader).has_value());
  CHECK(writer.endpoint->all_acknowledged());
}

TEST_CASE("topics: a second loan, and one that is dropped", "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture), receiver(fixture);
  Writer writer;
  Reader reader;
  open(sender, writer);
  open(receiver, reader);
  settle_match(sender, writer, receiver, reader);
  for (std::size_t size : {10, 5000}) {
    auto first = writer.endpoint->loan(size);
    auto second = writer.endpoint->loan(size);
    { auto dropped = writer.endpoint->loan(size); }
    REQUIRE((first && second));
    std::ranges::copy(bytes_of(1, size), first->data().begin());
    std::ranges::copy(bytes_of(2, size), second->data().begin());
    REQUIRE(writer.endpoint->publish(std::move(*first), header_of(1)).has_value());
    REQUIRE(writer.endpoint->publish(std::move(*second), header_of(2)).has_value());
    CHECK(is(take(receiver, reader), 1, size));
    CHECK(is(take(receiver, reader), 2, size));
    CHECK_FALSE(take(receiver, reader).has_value());
  }
}

TEST_CASE("topics: topics, types, domains and partitions keep apart", "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture), receiver(fixture), stranger(fixture, nullptr, {.domain = 5});
  Writer writer;
  Reader circle, other_type, other_hash, square, other_domain, other_partition;
  const std::string long_name(500, 'x');
  auto spec = writer_spec();
  spec.qos.publisher.partition.name = {"a", long_name.substr(0, 200)};
  open(sender, writer, spec);
  auto reading = reader_spec();
  reading.qos.subscriber.partition.name = {"[ab]"};
  open(receiver, square, reading);
  open(stranger, other_domain, reading);
  auto different = reading;
  different.topic = "Circle";
  open(receiver, circle, different);
  different = reading;
  different.type = "OtherType";
  open(receiver, other_type, different);
  different = reading;
  different.type_hash = 8;
  open(receiver, other_hash, different);
  different = reading;
  different.qos.subscriber.partition.name = {"c"};
  open(receiver, other_partition, different);
  settle_match(sender, writer, receiver, square);
  for (int i = 0; i < 3; ++i)
    for (Peer* peer : {&sender, &receiver, &stranger}) REQUIRE(peer->participant.poll().has_value());
  REQUIRE(write(writer, 1));
  CHECK(is(take(receiver, square), 1));
  REQUIRE(stranger.participant.poll().has_value());
  for (Reader* reader : {&circle, &other_type, &other_hash, &other_domain, &other_partition}) {
    CHECK(reader->samples.empty());
    CHECK(reader->matched.empty());
    CHECK(reader->incompatible.empty());
  }
  CHECK(writer.endpoint->matched_count() == 1);
}

TEST_CASE("topics: a change of PARTITION matches and unmatches", "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture), receiver(fixture);
  Writer writer;
  Reader reader;
  auto writing = writer_spec();
  auto reading = reader_spec();
  writing.qos.publisher.partition.name = {"one"};
  reading.qos.subscriber.partition.name = {"two"};
  open(sender, writer, writing);
  open(receiver, reader, reading);
  for (std::uint64_t round = 1; round <= 3; ++round) {
    writing.qos.publisher.partition.name = {"tw*"};
    REQUIRE(writer.endpoint->set_qos(writing.qos).has_value());
    settle({&sender, &receiver},
           [&] { return writer.matched.size() == round && reader.matched.size() == round; });
    REQUIRE(write(writer, round));
    CHECK(is(take(receiver, reader), round));
    reading.qos.subscriber.partition.name = {"three"};
    REQUIRE(reader.endpoint->set_qos(reading.qos).has_value());
    settle({&sender, &receiver},
           [&] { return writer.unmatched.size() == round && reader.unmatched.size() == round; });
    CHECK_FALSE(reader.unmatched.back().second);
    CHECK_FALSE(writer.unmatched.back().second);
    REQUIRE(write(writer, round));
    CHECK_FALSE(take(receiver, reader).has_value());
    writing.qos.publisher.partition.name = {"one"};
    REQUIRE(writer.endpoint->set_qos(writing.qos).has_value());
    reading.qos.subscriber.partition.name = {"two"};
    REQUIRE(reader.endpoint->set_qos(reading.qos).has_value());
    settle({&sender, &receiver}, [&] { return writer.endpoint->matched_count() == 0; });
  }
}

TEST_CASE("topics: a change of a mutable policy is seen by the other side", "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture), receiver(fixture);
  Writer writer;
  Reader reader;
  auto writing = writer_spec();
  auto reading = reader_spec();
  open(sender, writer, writing);
  open(receiver, reader, reading);
  settle_match(sender, writer, receiver, reader);
  for (int round = 1; round <= 100; ++round) {
    writing.qos.datawriter.ownership_strength.value = round;
    REQUIRE(writer.endpoint->set_qos(writing.qos).has_value());
    settle({&sender, &receiver},
           [&] { return !reader.changed.empty() && reader.changed.back().qos == writing.qos; });
  }
  CHECK(reader.changed.size() == 100);
  reading.qos.datareader.user_data.value = bytes_of(3, 1000);
  REQUIRE(reader.endpoint->set_qos(reading.qos).has_value());
  settle({&sender, &receiver}, [&] { return writer.changed.size() == 1; });
  CHECK(writer.changed[0].qos == reading.qos);
  CHECK(reader.unmatched.empty());
  writing.qos.datawriter.history.kind = qos::HistoryKind::keep_last;
  CHECK(writer.endpoint->set_qos(writing.qos).error().code() == Errc::incompatible);
}

TEST_CASE("topics: a late joiner gets the history of TRANSIENT_LOCAL, and none of VOLATILE",
          "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture);
  Writer writer;
  open(sender, writer, writer_spec(transient_local));
  for (std::uint64_t number = 0; number < 5000; ++number) REQUIRE(write(writer, number, 100));
  Peer receiver(fixture);
  Reader late, late_best_effort, volatile_reader;
  open(receiver, late, reader_spec(transient_local));
  open(receiver, late_best_effort, best_effort(reader_spec(transient_local)));
  open(receiver, volatile_reader);
  settle({&sender, &receiver}, [&] {
    return writer.endpoint->matched_count() == 3 && volatile_reader.endpoint->matched_count() == 1 &&
           late_best_effort.endpoint->matched_count() == 1;
  });
  for (std::uint64_t number = 5000; number < 6000; ++number) REQUIRE(write(writer, number, 100));
  for (std::uint64_t number = 0; number < 6000; ++number) {
    REQUIRE(is(take(receiver, late), number, 100));
    REQUIRE(is(take(receiver, late_best_effort), number, 100));
  }
  for (std::uint64_t number = 5000; number < 6000; ++number)
    REQUIRE(is(take(receiver, volatile_reader), number, 100));
  for (Reader* reader : {&late, &late_best_effort, &volatile_reader})
    CHECK_FALSE(take(receiver, *reader).has_value());
}

TEST_CASE(
    "topics: a VOLATILE writer without readers keeps nothing, and a joiner gets what is written from the "
    "match on",
    "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture), receiver(fixture);
  Writer writer;
  Reader reader;
  open(sender, writer);
  for (std::uint64_t number = 0; number < 50000; ++number) REQUIRE(write(writer, number, 1000));
  CHECK(sender.transport->arena().pool_live() < 8 << 20);
  open(receiver, reader);
  settle_match(sender, writer, receiver, reader);
  REQUIRE(write(writer, 77));
  CHECK(is(take(receiver, reader), 77));
}

TEST_CASE("topics: a pair that does not fit is not matched and both sides say why", "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture), receiver(fixture);
  Writer writer;
  Reader reader;
  open(sender, writer);
  auto spec = reader_spec(transient_local);
  spec.qos.datareader.deadline.period = 1s;
  open(receiver, reader, spec);
  settle({&sender, &receiver},
         [&] { return writer.incompatible.size() == 1 && reader.incompatible.size() == 1; });
  for (int i = 0; i < 3; ++i)
    for (Peer* peer : {&sender, &receiver}) REQUIRE(peer->participant.poll().has_value());
  CHECK(writer.endpoint->matched_count() == 0);
  CHECK(reader.endpoint->matched_count() == 0);
  CHECK(writer.incompatible == reader.incompatible);
  REQUIRE(writer.incompatible.size() == 1);
  REQUIRE(writer.incompatible[0].size() == 2);
  CHECK(writer.incompatible[0][0].policy == qos::PolicyId::durability);
  CHECK(writer.incompatible[0][1].policy == qos::PolicyId::deadline);
}

TEST_CASE("topics: a RELIABLE reader without room holds a KEEP_ALL writer back", "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture), receiver(fixture);
  Writer writer;
  Reader reader;
  open(sender, writer);
  open(receiver, reader);
  settle_match(sender, writer, receiver, reader);
  reader.room = 1;
  std::uint64_t written = 0, taken = 0;
  while (write(writer, written, 10000)) {
    REQUIRE(++written < 10000);
    REQUIRE(receiver.participant.poll().has_value());
  }
  CHECK(writer.endpoint->publish(bytes_of(1, 10000), {}).error().code() == Errc::would_block);
  CHECK_FALSE(writer.endpoint->all_acknowledged());
  reader.room = SIZE_MAX;
  while (is(take(receiver, reader), taken, 10000)) ++taken;
  CHECK(taken == written);
  CHECK(writer.endpoint->all_acknowledged());
  CHECK(write(writer, written, 10000));
  CHECK(is(take(receiver, reader), written, 10000));
}

TEST_CASE("topics: a BEST_EFFORT reader holds nobody, and is told what it lost", "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture), receiver(fixture);
  Writer writer;
  Reader slow, fast;
  open(sender, writer);
  open(receiver, slow, best_effort(reader_spec()));
  open(receiver, fast);
  settle_match(sender, writer, receiver, slow, 2);
  slow.room = 3;
  constexpr std::uint64_t count = 20000;
  for (std::uint64_t number = 0; number < count; ++number) {
    while (!write(writer, number, 1000)) REQUIRE(receiver.participant.poll().has_value());
    while (auto sample = fast.take()) {
    }
  }
  slow.room = SIZE_MAX;
  std::uint64_t taken = 0, last = 0;
  while (auto sample = take(receiver, slow)) {
    CHECK_FALSE(sample->in_place());
    REQUIRE(is(sample, sample->header().sequence_number - 1, 1000));
    REQUIRE(sample->header().sequence_number > last);
    last = sample->header().sequence_number;
    ++taken;
  }
  CHECK(last == count);
  CHECK(slow.lost > 0);
  CHECK(taken + slow.lost == count);
  CHECK(fast.lost == 0);
}

TEST_CASE("topics: a cache that keeps old samples does not stop a KEEP_ALL writer", "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture), receiver(fixture);
  Writer writer;
  Reader reader;
  open(sender, writer);
  open(receiver, reader);
  settle_match(sender, writer, receiver, reader);
  std::deque<Sample> kept;
  for (std::uint64_t number = 0; number < 5000; ++number) {
    while (!write(writer, number, 5000)) REQUIRE(receiver.participant.poll().has_value());
    while (auto sample = take(receiver, reader))
      if (sample->header().instance % 500 == 0) kept.push_back(std::move(*sample));
  }
  REQUIRE(kept.size() == 10);
  CHECK_FALSE(kept.front().in_place());
  for (std::uint64_t i = 0; i < 10; ++i) CHECK(is(kept[i], i * 500, 5000));
}

TEST_CASE("topics: a sample on loan stays as it is, in place, until it is given back", "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture), receiver(fixture);
  Writer writer;
  Reader reader;
  reader.evacuates = false;
  open(sender, writer);
  open(receiver, reader);
  settle_match(sender, writer, receiver, reader);
  REQUIRE(write(writer, 1, 5000));
  auto loan = take(receiver, reader);
  std::uint64_t written = 2;
  for (; write(writer, written, 5000); ++written) {
    REQUIRE(is(take(receiver, reader), written, 5000));
    REQUIRE(written < 10000);
  }
  CHECK(loan->in_place());
  CHECK(is(loan, 1, 5000));
  loan->evacuate();
  CHECK_FALSE(loan->in_place());
  CHECK(is(loan, 1, 5000));
  CHECK(write(writer, written, 5000));
}

TEST_CASE("topics: a reader that is deleted, or whose application is gone, holds nobody", "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture);
  Writer writer;
  open(sender, writer);
  for (std::size_t round = 0; round < 4; ++round) {
    auto receiver = std::make_unique<Peer>(fixture);
    Reader reader;
    reader.evacuates = false;
    open(*receiver, reader);
    settle_match(sender, writer, *receiver, reader);
    REQUIRE(write(writer, 1, 1000));
    settle({receiver.get()}, [&] { return !reader.samples.empty(); });
    reader.endpoint.reset();
    CHECK(is(reader.samples.front().second, 1, 1000));
    reader.samples.clear();
    if (round % 2 == 1) receiver.reset();
    settle({&sender}, [&] {
      if (receiver) REQUIRE(receiver->participant.poll().has_value());
      return writer.endpoint->matched_count() == 0;
    });
    CHECK(writer.unmatched.size() == round + 1);
    CHECK_FALSE(writer.unmatched.back().second);
    for (std::uint64_t number = 0; number < 20000; ++number) REQUIRE(write(writer, number, 1000));
  }
}

TEST_CASE("topics: SEND_WINDOW and RESOURCE_LIMITS bound what is not acknowledged", "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture), receiver(fixture);
  Writer window, limited, per_instance;
  Reader reader;
  reader.room = 0;
  auto spec = writer_spec();
  spec.qos.datawriter.send_window = {.min = 1, .max = 5};
  open(sender, window, spec);
  spec = writer_spec();
  spec.qos.datawriter.resource_limits.max_samples = 6;
  open(sender, limited, spec);
  spec = writer_spec();
  spec.qos.datawriter.resource_limits.max_samples_per_instance = 2;
  open(sender, per_instance, spec);
  open(receiver, reader);
  settle({&sender, &receiver}, [&] { return reader.endpoint->matched_count() == 3; });
  for (auto [writer, limit] : {std::pair(&window, 5), std::pair(&limited, 6), std::pair(&per_instance, 2)}) {
    int written = 0;
    while (writer->endpoint->publish(bytes_of(1), header_of(1))) REQUIRE(++written < 100);
    CHECK(written == limit);
    CHECK(writer->endpoint->publish(bytes_of(1), header_of(1)).error().code() == Errc::would_block);
  }
  CHECK(per_instance.endpoint->publish(bytes_of(1), header_of(2)).has_value());
  reader.room = SIZE_MAX;
  REQUIRE(receiver.participant.poll().has_value());
  CHECK(reader.samples.size() == 14);
  for (Writer* writer : {&window, &limited, &per_instance}) CHECK(write(*writer, 1));
}

TEST_CASE("topics: RESOURCE_LIMITS of what is kept for good", "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture);
  Writer samples, instances;
  auto spec = writer_spec(transient_local);
  spec.qos.datawriter.resource_limits.max_samples = 10;
  open(sender, samples, spec);
  for (std::uint64_t number = 0; number < 10; ++number) REQUIRE(write(samples, number));
  CHECK(samples.endpoint->publish(bytes_of(1), {}).error().code() == Errc::out_of_resources);
  spec = writer_spec(transient_local);
  spec.qos.datawriter.resource_limits.max_instances = 3;
  open(sender, instances, spec);
  for (std::uint64_t number = 0; number < 9; ++number)
    REQUIRE(instances.endpoint->publish(bytes_of(1), header_of(number % 3)).has_value());
  CHECK(instances.endpoint->publish(bytes_of(1), header_of(4)).error().code() == Errc::out_of_resources);
  SampleHeader end = header_of(2);
  end.kind = ChangeKind::unregistered;
  REQUIRE(instances.endpoint->publish(bytes_of(0, 0), end).has_value());
  CHECK(instances.endpoint->publish(bytes_of(1), header_of(4)).has_value());
}

TEST_CASE("topics: what a writer left when it went is still read", "[conformance]") {
  TransportFixture fixture;
  Peer receiver(fixture);
  Reader reader;
  open(receiver, reader);
  for (std::size_t round = 0; round < 4; ++round) {
    auto sender = std::make_unique<Peer>(fixture);
    Writer writer;
    open(*sender, writer);
    settle_match(*sender, writer, receiver, reader);
    for (std::uint64_t number = 0; number < 100; ++number) REQUIRE(write(writer, number, 500));
    writer.endpoint.reset();
    if (round % 2 == 1) sender.reset();
    for (std::uint64_t number = 0; number < 100; ++number) REQUIRE(is(take(receiver, reader), number, 500));
    CHECK_FALSE(take(receiver, reader).has_value());
    settle({&receiver}, [&] { return reader.endpoint->matched_count() == 0; });
    CHECK(reader.unmatched.size() == round + 1);
    CHECK_FALSE(reader.unmatched.back().second);
  }
}

TEST_CASE("topics: several writers and readers, also in one application", "[conformance]") {
  TransportFixture fixture;
  Peer one(fixture), other(fixture);
  Writer first, second;
  Reader same, far;
  open(one, first);
  open(other, second);
  open(one, same);
  open(other, far);
  settle({&one, &other}, [&] {
    return first.endpoint->matched_count() == 2 && second.endpoint->matched_count() == 2 &&
           same.endpoint->matched_count() == 2 && far.endpoint->matched_count() == 2;
  });
  for (std::uint64_t number = 0; number < 500; ++number) {
    REQUIRE(first.endpoint->publish(bytes_of(number), header_of(1)).has_value());
    REQUIRE(second.endpoint->publish(bytes_of(number), header_of(2)).has_value());
  }
  for (auto [peer, reader] : {std::pair(&one, &same), std::pair(&other, &far)}) {
    std::uint64_t next[3] = {};
    for (int i = 0; i < 1000; ++i) {
      auto sample = take(*peer, *reader);
      REQUIRE(sample.has_value());
      REQUIRE(is(sample, next[sample->header().instance]++));
    }
    CHECK_FALSE(take(*peer, *reader).has_value());
  }
}

TEST_CASE("topics: endpoints that come and go leave no memory behind", "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture), receiver(fixture);
  std::uint64_t used = 0;
  for (int round = 0; round < 40; ++round) {
    Writer writer;
    Reader reader;
    open(sender, writer, writer_spec(round % 2 == 0 ? transient_local : volatile_));
    open(receiver, reader, reader_spec(round % 2 == 0 ? transient_local : volatile_));
    settle_match(sender, writer, receiver, reader);
    for (std::uint64_t number = 0; number < 500; ++number) REQUIRE(write(writer, number, 500));
    for (std::uint64_t number = 0; number < 500; ++number) REQUIRE(is(take(receiver, reader), number, 500));
    writer.endpoint.reset();
    settle({&sender, &receiver}, [&] { return reader.unmatched.size() == 1; });
    reader.endpoint.reset();
    for (int i = 0; i < 3; ++i)
      for (Peer* peer : {&sender, &receiver}) REQUIRE(peer->participant.poll().has_value());
    if (round == 3) used = sender.transport->arena().pool_used() + receiver.transport->arena().pool_used();
  }
  CHECK(sender.transport->arena().pool_used() + receiver.transport->arena().pool_used() == used);
  CHECK(sender.transport->arena().reading().endpoint_count() <= 4);
  CHECK(sender.transport->arena().reading().log_count() <= 4);
  CHECK(receiver.transport->arena().reading().match_count() <= 4);
}

/// All that is there, as it was told.
struct Discovered final : DiscoveryEvents {
  void on_participant(const ParticipantInfo& info) override { participants[info.id] = info; }
  void on_participant_gone(std::uint64_t id) override { participants.erase(id); }
  void on_endpoint(const EndpointInfo& info) override { endpoints[info.id] = info; }
  void on_endpoint_changed(const EndpointInfo& info) override {
    changed += endpoints.contains(info.id) ? 1 : 0;
    endpoints[info.id] = info;
  }
  void on_endpoint_gone(const EndpointId& id) override { endpoints.erase(id); }
  std::map<std::uint64_t, ParticipantInfo> participants;
  std::map<EndpointId, EndpointInfo> endpoints;
  int changed = 0;
};

TEST_CASE("topics: discovery tells of all participants and endpoints, with their QoS", "[conformance]") {
  TransportFixture fixture;
  Discovered seen;
  Peer observer(fixture, &seen, {.domain = 3, .name = "observer"});
  auto other = std::make_unique<Peer>(
      fixture, nullptr,
      ParticipantOptions{.domain = 3, .name = std::string(300, 'n'), .user_data = bytes_of(1, 2000)});
  auto spec = writer_spec(transient_local, std::string(200, 't'));
  spec.qos.datawriter.user_data.value = bytes_of(9, 700);
  spec.publisher = 12;
  Writer writer;
  open(*other, writer, spec);
  settle({&observer, other.get()},
         [&] { return seen.participants.size() == 2 && seen.endpoints.size() == 1; });
  const ParticipantInfo& participant = seen.participants.at(other->participant.id());
  CHECK(participant.name == std::string(300, 'n'));
  CHECK(participant.user_data == bytes_of(1, 2000));
  CHECK(participant.domain == 3);
  CHECK(participant.slot == other->transport->slot());
  const EndpointInfo& endpoint = seen.endpoints.at(writer.endpoint->id());
  CHECK(endpoint.topic == spec.topic);
  CHECK(endpoint.type == spec.type);
  CHECK(endpoint.type_hash == 7);
  CHECK(endpoint.keyed);
  CHECK(endpoint.writer);
  CHECK(endpoint.qos == spec.qos);
  CHECK(endpoint.publisher == 12);
  spec.qos.topic_data.value = bytes_of(4, 9);
  REQUIRE(writer.endpoint->set_qos(spec.qos).has_value());
  settle({&observer}, [&] { return seen.changed == 1; });
  CHECK(seen.endpoints.at(writer.endpoint->id()).qos == spec.qos);
  writer.endpoint.reset();
  settle({&observer}, [&] { return seen.endpoints.empty(); });
  other.reset();
  settle({&observer}, [&] { return seen.participants.size() == 1; });
}

TEST_CASE("topics: LIVELINESS by its three kinds", "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture), receiver(fixture);
  for (auto kind : {qos::LivelinessKind::automatic, qos::LivelinessKind::manual_by_participant,
                    qos::LivelinessKind::manual_by_topic}) {
    Writer writer;
    Reader reader;
    auto spec = writer_spec();
    spec.qos.datawriter.liveliness = {kind, 300ms};
    open(sender, writer, spec);
    open(receiver, reader);
    settle_match(sender, writer, receiver, reader);
    // Nobody asserts: AUTOMATIC would, in poll().
    settle({&receiver}, [&] { return !reader.liveliness.empty(); });
    CHECK(reader.liveliness.back() == std::pair(writer.endpoint->id(), false));
    const bool manual = kind != qos::LivelinessKind::automatic;
    settle({&sender, &receiver}, [&] {
      if (kind == qos::LivelinessKind::manual_by_topic) writer.endpoint->assert_liveliness();
      if (kind == qos::LivelinessKind::manual_by_participant) sender.participant.assert_liveliness();
      return reader.liveliness.back().second;
    });
    if (manual) settle({&sender, &receiver}, [&] { return writer.liveliness_lost > 0; });
    reader.endpoint.reset();
  }
}

TEST_CASE("topics: what waits is taken by TRANSPORT_PRIORITY", "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture), receiver(fixture);
  Writer low, high;
  Reader reader;
  auto spec = writer_spec();
  open(sender, low, spec);
  spec.qos.datawriter.transport_priority.value = 5;
  open(sender, high, spec);
  open(receiver, reader);
  settle({&sender, &receiver}, [&] { return reader.endpoint->matched_count() == 2; });
  for (std::uint64_t number = 0; number < 10; ++number) REQUIRE((write(low, number) && write(high, number)));
  REQUIRE(receiver.participant.poll().has_value());
  REQUIRE(reader.samples.size() == 20);
  for (std::size_t i = 0; i < 20; ++i) CHECK(reader.samples[i].first == (i < 10 ? high : low).endpoint->id());
}

TEST_CASE("topics: a writer and a reader in two threads, blocked and woken", "[conformance]") {
  TransportFixture fixture;
  Peer sender(fixture), receiver(fixture);
  Writer writer;
  Reader reader;
  auto spec = writer_spec();
  auto reading = reader_spec();
  reading.qos.datareader.latency_budget.duration = 1ms;
  SECTION("at once") {}
  SECTION("within LATENCY_BUDGET") { spec.qos.datawriter.latency_budget.duration = 1ms; }
  SECTION("with a small SEND_WINDOW") { spec.qos.datawriter.send_window = {.min = 8, .max = 8}; }
  open(sender, writer, spec);
  open(receiver, reader, reading);
  settle_match(sender, writer, receiver, reader);
  constexpr std::uint64_t sample_count = 20000;
  const auto size_of = [](std::uint64_t number) -> std::size_t { return number % 7 == 0 ? 6000 : 24; };
  std::atomic<bool> failed{false};
  std::thread thread([&] {
    for (std::uint64_t number = 0; number < sample_count && !failed;) {
      if (write(writer, number, size_of(number))) {
        ++number;
        continue;
      }
      bool written = false;
      const auto again = [&] {
        if (!sender.participant.poll()) failed = true;
        return written = written || write(writer, number, size_of(number));
      };
      if (!sender.participant.wait(again, 10s)) failed = true;
      number += written ? 1 : 0;
    }
    while (!failed && !writer.endpoint->all_acknowledged()) {
      const auto done = [&] { return !sender.participant.poll() || writer.endpoint->all_acknowledged(); };
      if (!sender.participant.wait(done, 10s)) failed = true;
    }
  });
  std::uint64_t wrong = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint64_t number = 0; number < sample_count && wrong == 0;) {
    if (reader.samples.empty()) {
      const auto come = [&] { return !receiver.participant.poll() || !reader.samples.empty(); };
      if (!receiver.participant.poll() || !receiver.participant.wait(come, 10s)) ++wrong;
      if (std::chrono::steady_clock::now() - begin > 120s) ++wrong;
      continue;
    }
    const auto sample = reader.take();
    wrong += !is(sample, number, size_of(number)) || sample->header().instance != number;
    ++number;
  }
  if (wrong > 0) failed = true;
  thread.join();
  CHECK(wrong == 0);
  CHECK_FALSE(failed);
}

}  // namespace llamada::topics::conformance
