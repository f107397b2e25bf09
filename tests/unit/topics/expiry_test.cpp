// LIFESPAN: when samples have expired, and that their memory is used again.
#include "expiry.hpp"
#include "../log/arena_fixture.hpp"
#include "writer_limits.hpp"

namespace llamada::topics {
namespace {

using namespace log;

using namespace std::chrono_literals;
using detail::Expiry;

TEST_CASE("expiry: samples expire in their order, one LIFESPAN after their source timestamp", "[topics]") {
  Expiry expiry(1000ns);
  CHECK(expiry.is_empty());
  expiry.add(1, 100);
  expiry.add(2, 200);
  expiry.add(3, 150);  // written later with an earlier timestamp
  CHECK(expiry.next_ns() == 1100);
  CHECK(expiry.expired_through(1099) == 0);
  CHECK(expiry.expired_through(1100) == 1);
  CHECK(expiry.expired_through(1199) == 1);
  CHECK(expiry.expired_through(1200) == 3);
  CHECK(expiry.is_empty());
  CHECK(expiry.next_ns() == INT64_MAX);
  expiry.set_lifespan(qos::duration_infinite);
  expiry.add(4, 300);
  CHECK(expiry.is_empty());
  CHECK(expiry.expired_through(INT64_MAX) == 3);
}

TEST_CASE("expiry: many samples within a LIFESPAN share entries, none goes early", "[topics]") {
  Expiry expiry(1s);
  for (std::uint64_t number = 1; number <= 1'000'000; ++number)
    expiry.add(number, static_cast<std::int64_t>(number) * 1000);
  std::uint64_t through = 0;
  int steps = 0;
  while (!expiry.is_empty()) {
    const std::int64_t now_ns = expiry.next_ns();
    through = expiry.expired_through(now_ns);
    CHECK(static_cast<std::int64_t>(through) * 1000 + 1'000'000'000 <= now_ns);
    ++steps;
  }
  CHECK(through == 1'000'000);
  CHECK(steps <= 300);
}

TEST_CASE("log: a log that keeps all gives back the chunks of expired records", "[topics]") {
  constexpr std::size_t mebibyte = 1 << 20;
  Memory memory(16 * mebibyte);
  auto arena = make_arena(memory);
  LogOptions options{.retention = Retention::keep_all, .readers_expected = 0, .is_endpoints = true};
  auto writer = LogWriter::create(*arena, {}, options);
  REQUIRE(writer.has_value());
  const auto bytes = pattern(1, 1000);
  for (std::uint64_t number = 1; number <= 200'000; ++number) {  // 200 MB
    REQUIRE(writer->publish(1, 0, number, bytes).has_value());
    if (number > 1000) writer->expire(number - 1000);
  }
  CHECK(writer->live_bytes() < 2 * mebibyte);
  LogReader reader = LogReader::open(arena->reading(), writer->index());
  auto record = reader.peek();
  REQUIRE(record.has_value());
  CHECK(record->label > 190'000);
  CHECK(record->label <= 199'001);  // what has not expired is there
  CHECK(reader.records_before() + 1 == record->label);
}

TEST_CASE("log: expired records stay while a reader has not consumed them", "[topics]") {
  Memory memory(16 << 20);
  auto arena = make_arena(memory);
  auto writer = LogWriter::create(
      *arena, {}, {.retention = Retention::keep_all, .readers_expected = 0, .is_endpoints = true});
  REQUIRE(writer.has_value());
  auto cursor = arena->add_cursor({}, 0, 0);
  REQUIRE(cursor.has_value());
  writer->add_reader(*cursor);
  const auto bytes = pattern(1, 1000);
  for (std::uint64_t number = 1; number <= 2000; ++number)
    REQUIRE(writer->publish(1, 0, number, bytes).has_value());
  const std::uint64_t before = writer->live_bytes();
  writer->expire(2000);
  CHECK(writer->live_bytes() == before);
  LogReader reader = LogReader::open(arena->reading(), writer->index(), *cursor);
  while (reader.peek()) reader.advance();
  reader.release(reader.position_chunk());
  writer->expire(2000);
  CHECK(writer->live_bytes() < before);
}

TEST_CASE("writer limits: an instance that was unregistered makes room once its samples are gone",
          "[topics]") {
  qos::DataWriterQos qos;
  qos.reliability.kind = qos::ReliabilityKind::reliable;
  qos.history.kind = qos::HistoryKind::keep_all;
  qos.resource_limits = {.max_samples = 100, .max_instances = 1, .max_samples_per_instance = 10};
  detail::WriterLimits limits(qos);
  SampleHeader first, second;
  first.instance = 1;
  second.instance = 2;
  limits.add(first, 1);
  CHECK(limits.check(&second, 1, 1, false).error().code() == Errc::out_of_resources);
  first.kind = ChangeKind::disposed_unregistered;
  limits.add(first, 2);
  CHECK(!limits.check(&second, 2, 2, false));
  limits.released(2);
  CHECK(limits.check(&second, 0, 0, false));
}

}  // namespace
}  // namespace llamada::topics
