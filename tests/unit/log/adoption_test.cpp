#include "arena_fixture.hpp"
#include "llamada/base/random.hpp"
#include "llamada/log/journal.hpp"

namespace llamada::log {
namespace {

constexpr LogKey key{7, 9};
constexpr std::size_t arena_bytes = 4 << 20;

std::size_t size_of(std::uint64_t number) {
  return number % 17 == 0 ? number * 977 % 20000 : number * 31 % 70;
}

/// Reads a log from its start and returns how many records it holds, each as it must be.
std::uint64_t check_history(ArenaWriter& arena) {
  const auto index = arena.find_log(key);
  if (!index) return 0;
  LogReader reader = LogReader::open(arena.reading(), *index);
  std::uint64_t count = 0;
  while (auto record = reader.peek()) {
    REQUIRE(record->label == count);
    REQUIRE(holds(record->payload, count, size_of(count)));
    ++count;
    reader.advance();
  }
  REQUIRE_FALSE(reader.failed());
  return count;
}

TEST_CASE("adoption: each successor goes on where its predecessor stopped, the history whole", "[log]") {
  auto memory = std::make_unique<Memory>(arena_bytes);
  std::uint64_t number = 0;
  Random random(3);
  for (std::uint32_t incarnation = 1; incarnation <= 25; ++incarnation) {
    ArenaOptions options = small_arena();
    options.incarnation = incarnation;
    auto arena = make_arena(*memory, options);
    CHECK(arena->adopted() == (incarnation > 1));
    auto writer = LogWriter::open(*arena, key, {.retention = Retention::keep_all});
    REQUIRE(writer.has_value());
    REQUIRE(writer->published() == number);
    for (auto more = random.below(60); more > 0; --more, ++number)
      REQUIRE(writer->publish(1, 0, number, pattern(number, size_of(number))).has_value());
    auto unfinished = writer->reserve(random.below(5000));
    REQUIRE(unfinished.has_value());
    for (auto& byte : unfinished->payload()) byte = std::byte{0xee};
    memory = memory->copy();  // the process dies here, its reservation open
    auto successor_view = make_arena(*memory);
    REQUIRE(check_history(*successor_view) == number);
  }
}

TEST_CASE("adoption: memory that no log leads to is found again", "[log]") {
  auto memory = std::make_unique<Memory>(arena_bytes);
  auto arena = make_arena(*memory);
  REQUIRE(arena->allocate({16, 3008}, 0).has_value());  // allocated, and never linked
  const auto used = arena->pool_used();
  auto copy = memory->copy();
  auto successor = make_arena(*copy);
  CHECK(successor->pool_live() == 0);
  CHECK(successor->pool_used() == used);
  auto again = successor->allocate({16, 3008}, 0);
  REQUIRE(again.has_value());
  CHECK(again->generation == 2);
  CHECK(successor->pool_used() == used);
}

TEST_CASE("adoption: a chunk whose header was not complete is taken for free memory", "[log]") {
  auto memory = std::make_unique<Memory>(arena_bytes);
  auto arena = make_arena(*memory);
  auto chunk = arena->allocate({16, 3008}, 0);
  REQUIRE(chunk.has_value());
  const auto before = chunk->offset - arena->header().pool;
  auto copy = memory->copy();
  auto& header = *reinterpret_cast<ChunkHeader*>(copy->bytes().data() + chunk->offset);
  header.generation.store(0);
  reinterpret_cast<ArenaHeader*>(copy->bytes().data())->pool_used.store(before);
  auto successor = make_arena(*copy);
  CHECK(successor->pool_used() == before);
  CHECK(successor->allocate({16, 3008}, 0)->offset == chunk->offset);
}

TEST_CASE("adoption: a link that was not committed is made again", "[log]") {
  auto memory = std::make_unique<Memory>(arena_bytes);
  auto arena = make_arena(*memory);
  auto writer = LogWriter::open(*arena, key, {.retention = Retention::keep_all});
  std::uint64_t number = 0;
  while (arena->counted(Counter::allocated_chunks) < 4) {
    REQUIRE(writer->publish(1, 0, number, pattern(number, size_of(number))).has_value());
    ++number;
  }
  --number;  // the record that needed the fourth chunk is to be undone with its link
  auto last = writer->position();
  REQUIRE(last.has_value());
  auto copy = memory->copy();
  auto successor_of_whole = make_arena(*memory->copy());
  // Undo the link: the only committed cell of kind link whose chunk is the last one.
  bool undone = false;
  for (Offset at = arena->header().pool; at + 64 <= arena->header().pool + arena->pool_used(); at += 64) {
    auto& cell = *reinterpret_cast<Cell*>(copy->bytes().data() + at);
    LinkPayload link{};
    std::memcpy(&link.chunk, cell.payload, 8);
    if (cell.kind == kind_link && cell.commit.load() == 1 && link.chunk == last->chunk &&
        cell.inline_size == 12) {
      cell.commit.store(0);
      undone = true;
    }
  }
  REQUIRE(undone);
  auto& entry = *reinterpret_cast<LogEntry*>(copy->bytes().data() + arena->header().log_directory);
  entry.published = number;
  auto successor = make_arena(*copy);
  auto adopted = LogWriter::open(*successor, key, {.retention = Retention::keep_all});
  REQUIRE(adopted.has_value());
  for (auto stop = number + 500; number < stop; ++number)
    REQUIRE(adopted->publish(1, 0, number, pattern(number, size_of(number))).has_value());
  CHECK(check_history(*successor) == number);
}

TEST_CASE("adoption: a recycled log's live part and cursors are adopted", "[log]") {
  auto memory = std::make_unique<Memory>(arena_bytes);
  auto arena = make_arena(*memory);
  auto writer = LogWriter::open(*arena, key, {});
  auto cursor = arena->cursor(key, 3);
  writer->add_reader(*cursor);
  LogReader reader = LogReader::open(arena->reading(), writer->index(), *cursor);
  for (std::uint64_t number = 0; number < 20000; ++number) {
    REQUIRE(writer->publish(1, 0, number, pattern(number, size_of(number))).has_value());
    REQUIRE(reader.peek().has_value());
    reader.advance();
    reader.release(reader.position_chunk());
  }
  auto copy = memory->copy();
  auto successor = make_arena(*copy);
  CHECK(successor->pool_used() == arena->pool_used());
  CHECK(successor->pool_live() <= arena->pool_live());
  auto adopted = LogWriter::open(*successor, key, {});
  REQUIRE(adopted.has_value());
  CHECK(adopted->published() == 20000);
  auto same = successor->cursor(key, 3);
  REQUIRE(same.has_value());
  CHECK((*same)->consumed.load() == (*cursor)->consumed.load());
  CHECK(successor->reading().cursor_count() == 1);
  REQUIRE(adopted->publish(1, 0, 20000, pattern(20000, size_of(20000))).has_value());
  LogReader again = LogReader::open(successor->reading(), adopted->index(), *same);
  std::uint64_t last = 0;
  for (; again.peek(); again.advance()) last = again.peek()->label;
  CHECK(last == 20000);
}

TEST_CASE("adoption: a log that begins behind records counts them, and so does a successor", "[log]") {
  auto memory = std::make_unique<Memory>(arena_bytes);
  auto arena = make_arena(*memory);
  constexpr std::uint64_t first = 1000;
  auto writer = LogWriter::open(*arena, key, {.live_bytes_max = arena_bytes, .begins_behind = first});
  REQUIRE(writer);
  CHECK(writer->published() == first);
  LogReader reader = LogReader::open(arena->reading(), writer->index());
  CHECK(reader.records_before() == 0);
  CHECK_FALSE(reader.peek());
  CHECK(reader.records_before() == first);
  for (std::uint64_t number = first; number < first + 700; ++number) {
    REQUIRE(writer->publish(1, 0, number, pattern(number, size_of(number))));
    const auto record = reader.peek();
    REQUIRE(record);
    CHECK((record->label == number && reader.records_before() == number));
    reader.advance();
    CHECK(reader.find_damage() == nullptr);
  }
  auto copy = memory->copy();
  auto successor = make_arena(*copy);
  auto adopted = LogWriter::open(*successor, key, {});
  REQUIRE(adopted);
  CHECK(adopted->published() == first + 700);
}

TEST_CASE("adoption: damage is a clear error", "[log]") {
  Memory memory(arena_bytes);
  auto arena = make_arena(memory);
  auto writer = LogWriter::open(*arena, key, {.retention = Retention::keep_all});
  REQUIRE(writer->publish(1, 0, 0, pattern(0, 3000)).has_value());
  arena->log(writer->index()).first_chunk.store(12345);
  auto adopted = ArenaWriter::adopt(memory.bytes(), small_arena());
  REQUIRE_FALSE(adopted.has_value());
  CHECK(adopted.error().code() == Errc::parse_error);
  CHECK(adopted.error().text().find("log 0") != std::string::npos);
}

}  // namespace
}  // namespace llamada::log
