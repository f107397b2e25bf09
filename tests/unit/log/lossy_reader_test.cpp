#include "llamada/log/lossy_reader.hpp"

#include <atomic>
#include <thread>

#include "arena_fixture.hpp"

namespace llamada::log {
namespace {

constexpr LogKey key{1, 1};
constexpr std::uint8_t kind = 16;

std::size_t size_of(std::uint64_t number) { return number % 16 == 15 ? 300 + number % 700 : number % 48; }

void publish(LogWriter& writer, std::uint64_t number) {
  REQUIRE(writer.publish(kind, 0, number, pattern(number, size_of(number))).has_value());
}

/// Whether it is the record that was published as this number.
bool is_record(const CopiedRecord& record, std::uint64_t number, std::size_t bytes_max) {
  const std::size_t size = size_of(number);
  const auto whole = pattern(number, size);
  return record.number == number && record.label == number && record.kind == kind &&
         record.size_bytes == size && record.has_bytes && record.bytes.size() == std::min(size, bytes_max) &&
         std::equal(record.bytes.begin(), record.bytes.end(), whole.begin());
}

}  // namespace

TEST_CASE("lossy reader: of a log that keeps all it has every record, from the first one", "[log]") {
  Memory memory(std::size_t{64} << 20);
  auto arena = make_arena(memory);
  auto writer = LogWriter::create(*arena, key, {.retention = Retention::keep_all});
  REQUIRE(writer.has_value());
  LossyReader reader(arena->reading(), 0, 100);
  CHECK(reader.next() == nullptr);
  constexpr std::uint64_t record_count = 5000;
  for (std::uint64_t number = 1; number <= record_count; ++number) publish(*writer, number);
  for (std::uint64_t number = 1; number <= record_count; ++number) {
    const CopiedRecord* record = reader.next();
    REQUIRE(record != nullptr);
    REQUIRE(is_record(*record, number, 100));
  }
  CHECK(reader.next() == nullptr);
  CHECK(reader.missed() == 0);
  CHECK(reader.is_whole());
}

TEST_CASE("lossy reader: holds no chunk, and counts what was gone before it came", "[log]") {
  Memory memory(std::size_t{64} << 20);
  auto arena = make_arena(memory);
  auto writer = LogWriter::create(*arena, key, {});
  REQUIRE(writer.has_value());
  CursorEntry* cursor = *arena->cursor(key, 0);
  writer->add_reader(cursor);
  LogReader other = LogReader::open(arena->reading(), 0, cursor);
  const auto write = [&](std::uint64_t number) {
    publish(*writer, number);
    while (other.peek()) other.advance();
    other.release(other.position_chunk());
  };
  LossyReader reader(arena->reading(), 0, 1000);
  write(1);
  REQUIRE(reader.next() != nullptr);
  for (std::uint64_t number = 2; number <= 20000; ++number) write(number);
  std::uint64_t last = 1;
  std::uint64_t count = 1;
  while (const CopiedRecord* record = reader.next()) {
    REQUIRE(record->number > last);
    REQUIRE(is_record(*record, record->number, 1000));
    last = record->number;
    ++count;
  }
  CHECK(last == 20000);
  CHECK(reader.missed() > 0);
  CHECK(count + reader.missed() == 20000);
  CHECK_FALSE(reader.is_whole());
}

TEST_CASE("lossy reader: a payload that another record repeats is shown until its chunk is used again",
          "[log]") {
  Memory memory(std::size_t{64} << 20);
  auto arena = make_arena(memory);
  auto writer = LogWriter::create(*arena, key, {.retention = Retention::keep_all});
  REQUIRE(writer.has_value());
  const auto payload = pattern(7, 5000);
  auto reservation = writer->reserve(payload.size());
  REQUIRE(reservation.has_value());
  std::memcpy(reservation->payload().data(), payload.data(), payload.size());
  const std::span<const std::byte> kept = reservation->payload();
  writer->commit(std::move(*reservation), kind, 0, 1);
  for (std::uint64_t number = 2; number <= 300; ++number) publish(*writer, number);  // another chunk
  Reservation again;
  REQUIRE(writer->reserve_again(kept, again).has_value());
  writer->commit(std::move(again), kind, 0, 301);
  LossyReader reader(arena->reading(), 0, 16);
  const CopiedRecord* record = nullptr;
  for (std::uint64_t number = 1; number <= 301; ++number) record = reader.next();
  REQUIRE(record != nullptr);
  CHECK(record->number == 301);
  CHECK(record->has_bytes);
  CHECK(std::equal(record->bytes.begin(), record->bytes.end(), payload.begin()));
}

TEST_CASE("lossy reader: a new log with the same key is met though nobody has told of it", "[log]") {
  Memory memory(std::size_t{64} << 20);
  auto arena = make_arena(memory);
  auto writer = LogWriter::create(*arena, key, {});
  REQUIRE(writer.has_value());
  LossyReader reader(arena->reading(), 0, 1000);
  for (std::uint64_t number = 1; number <= 5; ++number) publish(*writer, number);  // all in its first chunk
  while (reader.next() != nullptr) continue;
  writer->discard();
  auto second = LogWriter::create(*arena, key, {});
  REQUIRE(second.has_value());
  REQUIRE(second->index() == 0);
  publish(*second, 1);
  const CopiedRecord* record = reader.next();
  REQUIRE(record != nullptr);
  CHECK(is_record(*record, 1, 1000));
  CHECK(reader.restarts() == 1);
  CHECK(reader.next() == nullptr);
}

TEST_CASE("lossy reader: what another log writes into the entry is not given as this one's", "[log]") {
  Memory memory(std::size_t{64} << 20);
  auto arena = make_arena(memory);
  auto writer = LogWriter::create(*arena, key, {});
  REQUIRE(writer.has_value());
  LossyReader reader(arena->reading(), 0, 1000);
  publish(*writer, 1);
  REQUIRE(reader.next() != nullptr);
  writer->discard();
  auto second = LogWriter::create(*arena, LogKey{1, 2}, {});
  REQUIRE(second.has_value());
  REQUIRE(second->index() == 0);
  publish(*second, 1);
  CHECK(reader.next() == nullptr);
  CHECK(reader.restarts() == 0);
  LossyReader other(arena->reading(), 0, 1000);
  CHECK(other.key() == LogKey{1, 2});
  CHECK(other.next() != nullptr);
}

TEST_CASE("lossy reader: a log that has another's entry is read from its start", "[log]") {
  Memory memory(std::size_t{64} << 20);
  auto arena = make_arena(memory);
  auto writer = LogWriter::create(*arena, key, {});
  REQUIRE(writer.has_value());
  LossyReader reader(arena->reading(), 0, 1000);
  for (std::uint64_t number = 1; number <= 200; ++number) publish(*writer, number);
  while (reader.next() != nullptr) continue;
  writer->discard();
  auto second = LogWriter::create(*arena, key, {});
  REQUIRE(second.has_value());
  REQUIRE(second->index() == 0);
  publish(*second, 1);
  reader.look_at_entry_again();
  const CopiedRecord* record = reader.next();
  REQUIRE(record != nullptr);
  CHECK(is_record(*record, 1, 1000));
  reader.look_at_entry_again();
  CHECK(reader.next() == nullptr);
}

TEST_CASE("lossy reader: between threads every copy is whole", "[log][threads]") {
  Memory memory(std::size_t{256} << 20);
  auto arena = make_arena(memory);
  auto made = LogWriter::create(*arena, key, {});
  REQUIRE(made.has_value());
  LogWriter& writer = *made;
  CursorEntry* cursor = *arena->cursor(key, 0);
  writer.add_reader(cursor);
  constexpr std::uint64_t record_count = 100'000;
  std::atomic<bool> is_over = false;
  std::uint64_t wrong = 0, last = 0, count = 0, missed = 0;
  std::thread spy([&, peer = arena->reading()] {
    LossyReader reader(peer, 0, 1000);
    for (bool ends = false; !ends;) {
      ends = is_over.load(std::memory_order_acquire);
      while (const CopiedRecord* record = reader.next()) {
        wrong += record->number <= last || !is_record(*record, record->number, 1000);
        last = record->number;
        ++count;
      }
    }
    missed = reader.missed();
  });
  LogReader other = LogReader::open(arena->reading(), 0, cursor);
  for (std::uint64_t number = 1; number <= record_count; ++number) {
    publish(writer, number);
    while (other.peek()) other.advance();
    other.release(other.position_chunk());
  }
  is_over.store(true, std::memory_order_release);
  spy.join();
  CHECK(wrong == 0);
  CHECK(last == record_count);
  CHECK(count + missed <= record_count);
}

}  // namespace llamada::log
