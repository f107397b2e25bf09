#include "llamada/log/history_reader.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

#include "arena_fixture.hpp"

namespace llamada::log {
namespace {

constexpr LogKey key{1, 1};
constexpr std::size_t copied_bytes_max = 1000;

std::size_t size_of(std::uint64_t number) { return number % 16 == 15 ? 300 + number % 9000 : number % 48; }

void publish(LogWriter& writer, std::uint64_t number) {
  REQUIRE(writer.publish(1, 0, number, pattern(number, size_of(number))).has_value());
}

/// 1: it is record `number`; 0: it is not; -1: its payload was gone before it was copied.
int compare(HistoryReader& reader, const Record& record, std::uint64_t number) {
  if (record.label != number || record.payload.size() != size_of(number)) return 0;
  if (record.payload.size() <= copied_bytes_max)
    return holds(record.payload, number, size_of(number)) ? 1 : 0;
  alignas(8) std::array<std::byte, 512> part;
  for (std::uint64_t at = 0; at < record.payload.size(); at += part.size()) {
    const auto bytes =
        std::span(part).first(std::min<std::uint64_t>(part.size(), record.payload.size() - at));
    if (!reader.copy(record, at, bytes)) return -1;
    const auto whole = pattern(number, size_of(number));
    if (!std::ranges::equal(bytes, std::span(whole).subspan(at, bytes.size()))) return 0;
  }
  return 1;
}

}  // namespace

TEST_CASE("history reader: it has each record in order, and goes on at a place", "[log]") {
  Memory memory(std::size_t{64} << 20);
  auto arena = make_arena(memory);
  auto writer = LogWriter::create(*arena, key, {.retention = Retention::keep_all});
  REQUIRE(writer);
  const HistoryReader::Options options{.copied_bytes_max = copied_bytes_max};
  HistoryReader reader(arena->reading(), 0, options);
  CHECK_FALSE(reader.first_number());
  CHECK_FALSE(reader.peek());
  for (std::uint64_t number = 1; number <= 3000; ++number) publish(*writer, number);
  CHECK(reader.first_number() == 1);
  LogPosition place;
  for (std::uint64_t number = 1; number <= 3000; ++number) {
    const auto record = reader.peek();
    REQUIRE(record);
    REQUIRE(compare(reader, *record, number) == 1);
    if (number == 2000) place = reader.position();
    reader.advance();
  }
  CHECK_FALSE(reader.peek());
  CHECK_FALSE(reader.is_overtaken());
  HistoryReader again(arena->reading(), 0, place, options);
  const auto record = again.peek();
  REQUIRE(record);
  CHECK(compare(again, *record, 2000) == 1);
}

TEST_CASE("history reader: it passes over chunks up to a record", "[log]") {
  Memory memory(std::size_t{64} << 20);
  auto arena = make_arena(memory);
  auto writer = LogWriter::create(*arena, key, {.retention = Retention::keep_all});
  REQUIRE(writer);
  constexpr std::uint64_t last = 30000;
  for (std::uint64_t number = 1; number <= last; ++number) publish(*writer, number);
  for (std::uint64_t number = 1; number <= last + 50; number += 997) {
    HistoryReader reader(arena->reading(), 0, {.copied_bytes_max = copied_bytes_max});
    CHECK_FALSE(reader.pass_chunks(number));
    REQUIRE(reader.first_number() == 1);
    std::uint64_t at = 1;
    int records = 0;
    while (at < number) {
      if (const auto passed = reader.pass_chunks(number); passed && *passed > at) {
        REQUIRE(*passed <= number);
        at = *passed;
        continue;
      }
      if (!reader.peek()) break;
      reader.advance();
      ++at;
      ++records;
    }
    CHECK(at == std::min(number, last + 1));
    CHECK(records < 4096);  // of one chunk
    const auto record = reader.peek();
    REQUIRE(record.has_value() == (number <= last));
    if (record) CHECK(compare(reader, *record, number) == 1);
  }
}

TEST_CASE("history reader: it stops where the writer has used memory again", "[log]") {
  Memory memory(std::size_t{64} << 20);
  auto arena = make_arena(memory);
  auto writer = LogWriter::create(*arena, key, {});
  REQUIRE(writer);
  CursorEntry* cursor = *arena->cursor(key, 0);
  writer->add_reader(cursor);
  LogReader other = LogReader::open(arena->reading(), 0, cursor);
  HistoryReader early(arena->reading(), 0, {});
  CHECK_FALSE(early.first_number());
  publish(*writer, 1);
  HistoryReader reader(arena->reading(), 0, {});
  REQUIRE(reader.peek());
  for (std::uint64_t number = 2; number <= 20000; ++number) {
    publish(*writer, number);
    while (other.peek()) other.advance();
    other.release(other.position_chunk());
  }
  while (reader.peek()) reader.advance();
  CHECK(reader.is_overtaken());
  HistoryReader again(arena->reading(), 0, reader.position(), {});
  CHECK_FALSE(again.peek());
  CHECK(again.is_overtaken());
  // It was to begin with record 1.
  CHECK_FALSE(early.peek());
  CHECK(early.is_overtaken());
  HistoryReader late(arena->reading(), 0, {});
  CHECK(late.first_number().value_or(0) > 1);
}

TEST_CASE("history reader: beside a writer that recycles it has right records or none", "[log][threads]") {
  Memory memory(std::size_t{64} << 20);
  auto arena = make_arena(memory);
  auto made = LogWriter::create(*arena, key, {.live_bytes_max = 64 << 10});
  REQUIRE(made);
  CursorEntry* cursor = *arena->cursor(key, 0);
  made->add_reader(cursor);
  constexpr std::uint64_t record_count = 60000;
  std::atomic<bool> ends{false};
  std::uint64_t right = 0, wrong = 0, overtaken = 0;
  std::thread history([&, peer = arena->reading()] {
    while (!ends.load(std::memory_order_relaxed)) {
      HistoryReader reader(peer, 0, {.copied_bytes_max = copied_bytes_max, .keeper = cursor});
      const auto first = reader.first_number();
      if (!first) continue;
      for (std::uint64_t number = *first; !ends.load(std::memory_order_relaxed);) {
        const auto record = reader.peek();
        if (!record) {
          overtaken += reader.is_overtaken() ? 1 : 0;
          if (reader.is_overtaken()) break;
          continue;
        }
        const int outcome = compare(reader, *record, number++);
        right += outcome == 1 ? 1 : 0;
        wrong += outcome == 0 ? 1 : 0;
        reader.advance();
      }
    }
  });
  LogReader consumer = LogReader::open(arena->reading(), 0, cursor);
  for (std::uint64_t number = 1; number <= record_count;) {
    if (made->publish(1, 0, number, pattern(number, size_of(number)))) ++number;
    while (consumer.peek()) consumer.advance();
    consumer.release(consumer.position_chunk());
  }
  ends.store(true, std::memory_order_relaxed);
  history.join();
  CHECK(wrong == 0);
  WARN(right << " records were read, and the reader was overtaken " << overtaken << " times");
}

}  // namespace llamada::log
