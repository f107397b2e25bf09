#include <algorithm>
#include <array>
#include <map>

#include "arena_fixture.hpp"
#include "llamada/base/random.hpp"

namespace llamada::log {
namespace {

constexpr std::size_t mebibyte = 1 << 20;
constexpr LogKey key{7, 9};

LogWriter keep_all_log(ArenaWriter& arena, LogKey log_key = key) {
  auto log = LogWriter::create(arena, log_key, {.retention = Retention::keep_all});
  REQUIRE(log.has_value());
  return std::move(*log);
}

TEST_CASE("log: what is published is read in order, of every size", "[log]") {
  Memory memory(64 * mebibyte);
  auto arena = make_arena(memory);
  LogWriter writer = keep_all_log(*arena);
  const std::size_t sizes[] = {0,  1,  3,  4,  7,   8,    15,   16,   17,    31,     32,     33,
                               47, 48, 49, 64, 100, 3008, 3009, 5000, 70000, 300000, 4194304};
  std::uint64_t number = 0;
  for (int round = 0; round < 3; ++round)
    for (std::size_t size : sizes) {
      const auto bytes = pattern(number, size);
      if (!writer.try_publish(1, 5, number, bytes)) REQUIRE(writer.publish(1, 5, number, bytes).has_value());
      // As a writer that waits does; changes nothing that is read.
      for (std::uint64_t times = 0; times < number; ++times) writer.take_room_ahead();
      ++number;
    }
  REQUIRE(writer.published() == number);

  LogReader reader = LogReader::open(arena->reading(), writer.index());
  for (std::uint64_t expected = 0; expected < number; ++expected) {
    REQUIRE(reader.ready());
    auto record = reader.peek();
    REQUIRE(record.has_value());
    CHECK(record->label == expected);
    CHECK(record->flags == 5);
    CHECK(holds(record->payload, expected, sizes[expected % std::size(sizes)]));
    CHECK((record->payload.size() <= inline_payload_max) == record->extra.empty());
    if (!record->extra.empty()) CHECK(reinterpret_cast<std::uintptr_t>(record->payload.data()) % 64 == 0);
    reader.advance();
  }
  CHECK_FALSE(reader.peek().has_value());
  CHECK_FALSE(reader.failed());
}

// Chunks that keep all follow what the records before needed, so that memory is not set aside in vain.
TEST_CASE("log: records in a row are taken as a run, up to a large one and to the end of a chunk", "[log]") {
  Memory memory(16 * mebibyte);
  auto arena = make_arena(memory);
  LogWriter writer = keep_all_log(*arena);
  const auto size_of = [](std::uint64_t number) -> std::size_t {
    return number % 10 == 9 ? LogReader::Run::size_bytes_max + 1 : number * 37 % 200;
  };
  constexpr std::uint64_t count = 500;
  for (std::uint64_t number = 0; number < count; ++number)
    REQUIRE(writer.publish(3, 5, number, pattern(number, size_of(number))).has_value());
  LogReader reader = LogReader::open(arena->reading(), writer.index());
  std::uint64_t number = 0, in_runs = 0;
  while (const auto record = reader.peek()) {
    REQUIRE(record->label == number);
    LogReader::Run run(reader);
    const std::uint64_t first = number;
    for (auto message = run.peek(); message; message = run.peek()) {
      if ((message->kind_and_flags & 0xff) == kind_link) break;
      CHECK((message->kind_and_flags == (5U << 16 | 3U) && message->label == number));
      REQUIRE(message->size_bytes == size_of(number));
      CHECK(holds({message->payload, message->size_bytes}, number, message->size_bytes));
      run.advance();
      ++number;
    }
    in_runs += number - first;
    if (number > first) {
      run.finish();
    } else {
      CHECK(holds(record->payload, number, size_of(number)));
      reader.advance();
      ++number;
    }
  }
  CHECK(number == count);
  CHECK(in_runs >= count * 8 / 10);
  CHECK_FALSE(reader.failed());
}

TEST_CASE("log: whether a record behind others is still to come can be asked within a chunk", "[log]") {
  Memory memory(mebibyte);
  auto arena = make_arena(memory);
  LogWriter writer = keep_all_log(*arena);
  REQUIRE(writer.publish(1, 0, 0, pattern(0, 8)).has_value());
  LogReader reader = LogReader::open(arena->reading(), writer.index());
  REQUIRE(reader.peek().has_value());
  CHECK_FALSE(reader.is_to_come(0));
  CHECK(reader.is_to_come(1));
  CHECK_FALSE(reader.is_to_come(1000));
  REQUIRE(writer.publish(1, 0, 1, pattern(1, 8)).has_value());
  CHECK_FALSE(reader.is_to_come(1));
}

TEST_CASE("log: what keeps all takes little more memory than its records", "[log]") {
  const std::size_t size = GENERATE(std::size_t{8}, std::size_t{64}, std::size_t{1000});
  Memory memory(64 * mebibyte);
  auto arena = make_arena(memory);
  LogWriter writer = keep_all_log(*arena);
  const std::uint64_t count = 4 * mebibyte / (size + 128);
  bool all_published = true;
  for (std::uint64_t number = 0; number < count; ++number)
    all_published &= writer.publish(1, 0, number, pattern(number, size)).has_value();
  REQUIRE(all_published);
  const std::uint64_t least = cell_size_bytes + (size <= inline_payload_max ? 0 : (size + 63) / 64 * 64);
  CHECK(writer.live_bytes() < count * least * 5 / 4);
  LogReader reader = LogReader::open(arena->reading(), writer.index());
  std::uint64_t good = 0;
  for (auto record = reader.peek(); record && holds(record->payload, good, size); record = reader.peek()) {
    reader.advance();
    ++good;
  }
  CHECK(good == count);
}

TEST_CASE("log: memory that keeps all is prepared before it is used", "[log]") {
  Memory memory(64 * mebibyte);
  std::uint64_t prepared = 0;
  ArenaOptions options;
  options.prepare = [&](std::span<std::byte> part) {
    CHECK(std::all_of(part.begin() + sizeof(ChunkHeader), part.end(),
                      [](std::byte byte) { return byte == std::byte{0}; }));
    prepared += part.size();
    return true;
  };
  auto arena = ArenaWriter::create(memory.bytes(), options);
  REQUIRE(arena.has_value());
  LogWriter writer = keep_all_log(**arena);
  bool all_published = true;
  for (std::uint64_t number = 0; number < 2048; ++number)
    all_published &= writer.publish(1, 0, number, pattern(number, 1000)).has_value();
  CHECK(all_published);
  CHECK(prepared > mebibyte);
  CHECK(prepared <= (*arena)->pool_used());
}

TEST_CASE("log: a long run of payloads that are kept lies where each of them is stored whole", "[log]") {
  Memory memory(64 * mebibyte);
  std::vector<std::size_t> stored;
  ArenaOptions options;
  options.store = [&](std::span<std::byte> to, std::span<const std::byte> from) {
    stored.push_back(static_cast<std::size_t>(to.data() - memory.bytes().data()));
    std::copy(from.begin(), from.end(), to.begin());
    return from.size();
  };
  auto arena = ArenaWriter::create(memory.bytes(), options);
  REQUIRE(arena.has_value());
  LogWriter writer = keep_all_log(**arena);
  std::vector<std::size_t> sizes;
  const auto publish = [&](std::size_t size, std::size_t run_bytes) {
    const auto payload = pattern(sizes.size(), size);
    Reservation room;
    REQUIRE(writer.reserve(size, room, LogWriter::Filling::by_fill, run_bytes).has_value());
    writer.fill(room, payload);
    writer.commit(std::move(room), 1, 0, sizes.size());
    sizes.push_back(size);
  };
  const auto publish_run = [&](std::size_t run_bytes) {
    stored.clear();
    for (std::size_t left = run_bytes; left > 0; left -= sizes.back())
      publish(std::min(left, stored_whole_bytes), left);
  };
  const auto lies_whole = [](std::size_t at) { return at % stored_whole_bytes == 0; };
  for (const std::size_t run_bytes :
       {LogWriter::run_bytes_min, std::size_t{9'000'000}, std::size_t{20'000'000}}) {
    publish(300'000, 0);
    const std::uint64_t used = (*arena)->pool_used();
    publish_run(run_bytes);
    CHECK(stored.size() == (run_bytes + stored_whole_bytes - 1) / stored_whole_bytes);
    CHECK(std::ranges::all_of(stored, lies_whole));
    CHECK((*arena)->pool_used() - used < run_bytes + run_bytes / 8 + 2 * 8192);
    publish(100, 0);
  }
  publish_run(LogWriter::run_bytes_min - 1);
  CHECK_FALSE(std::ranges::all_of(stored, lies_whole));

  LogReader reader = LogReader::open((*arena)->reading(), writer.index());
  for (std::size_t number = 0; number < sizes.size(); ++number) {
    const auto record = reader.peek();
    REQUIRE(record.has_value());
    CHECK(record->label == number);
    CHECK(holds(record->payload, number, sizes[number]));
    reader.advance();
  }
}

TEST_CASE("log: large payloads that are kept are stored into memory that was not prepared", "[log]") {
  Memory memory(64 * mebibyte);
  std::uint64_t prepared = 0, stored = 0;
  ArenaOptions options;
  options.prepare = [&](std::span<std::byte> part) {
    prepared += part.size();
    return true;
  };
  options.store = [&](std::span<std::byte> to, std::span<const std::byte> from) {
    std::copy(from.begin(), from.end(), to.begin());
    stored += from.size();
    return stored % 3 != 0;  // now and then refused
  };
  auto arena = ArenaWriter::create(memory.bytes(), options);
  REQUIRE(arena.has_value());
  LogWriter writer = keep_all_log(**arena);
  constexpr std::size_t sizes[] = {100'000, 10, 1000, 600'000, 3000, 40'000};
  std::uint64_t number = 0;
  for (; number < 100; ++number)
    REQUIRE(writer.publish(1, 0, number, pattern(number, sizes[number % std::size(sizes)])).has_value());
  CHECK(stored > 10'000'000);
  CHECK(prepared < stored);
  LogReader reader = LogReader::open((*arena)->reading(), writer.index());
  for (std::uint64_t read = 0; read < number; ++read) {
    auto record = reader.peek();
    REQUIRE(record.has_value());
    CHECK(holds(record->payload, read, sizes[read % std::size(sizes)]));
    reader.advance();
  }
}

TEST_CASE("log: whether there is room can be asked without a refusal", "[log]") {
  Memory memory(8 * mebibyte);
  auto arena = make_arena(memory);
  auto writer = LogWriter::create(*arena, key, {.live_bytes_max = 64 << 10});
  REQUIRE(writer.has_value());
  while (writer->may_reserve(1000)) REQUIRE(writer->publish(1, 0, 0, pattern(0, 1000)).has_value());
  CHECK(arena->counted(Counter::would_blocks) == 0);
  auto refused = writer->reserve(1000);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code() == Errc::would_block);
}

TEST_CASE("log: a reader that comes before the first record finds it", "[log]") {
  Memory memory(8 * mebibyte);
  auto arena = make_arena(memory);
  LogWriter writer = keep_all_log(*arena);
  LogReader reader = LogReader::open(arena->reading(), writer.index());
  CHECK_FALSE(reader.peek().has_value());
  REQUIRE(writer.publish(2, 0, 1, {}).has_value());
  REQUIRE(reader.peek().has_value());
  CHECK(reader.peek()->kind == 2);
}

TEST_CASE("log: a reservation is written in place, may shrink, and gives its room back when dropped",
          "[log]") {
  Memory memory(8 * mebibyte);
  auto arena = make_arena(memory);
  LogWriter writer = keep_all_log(*arena);
  LogReader reader = LogReader::open(arena->reading(), writer.index());
  {
    auto dropped = writer.reserve(100);
    REQUIRE(dropped.has_value());
    dropped->payload()[0] = std::byte{1};
    std::ranges::fill(dropped->extra(), std::byte{1});
  }
  CHECK_FALSE(reader.peek().has_value());
  auto reservation = writer.reserve(1000);
  REQUIRE(reservation.has_value());
  const auto bytes = pattern(3, 60);
  std::ranges::copy(bytes, reservation->payload().begin());
  reservation->extra()[31] = std::byte{77};
  reservation->shrink(60);
  writer.commit(std::move(*reservation), 1, 0, 3);
  auto record = reader.peek();
  REQUIRE(record.has_value());
  CHECK(holds(record->payload, 3, 60));
  CHECK(record->extra[31] == std::byte{77});
  CHECK(record->extra[0] == std::byte{0});

  reader.advance();
  {
    auto dropped = writer.reserve(100);
    REQUIRE(dropped.has_value());
    std::ranges::fill(dropped->extra(), std::byte{1});
  }
  auto untouched = writer.reserve(100);
  REQUIRE(untouched.has_value());
  writer.commit(std::move(*untouched), 1, 0, 4);
  record = reader.peek();
  REQUIRE(record.has_value());
  CHECK(std::ranges::all_of(record->extra, [](std::byte byte) { return byte == std::byte{0}; }));
}

TEST_CASE("log: an announced record is seen by who asks for it, and is there once it is committed", "[log]") {
  Memory memory(mebibyte);
  auto arena = make_arena(memory);
  LogWriter writer = keep_all_log(*arena);
  REQUIRE(writer.publish(1, 0, 0, pattern(0, 8)).has_value());
  LogReader reader = LogReader::open(arena->reading(), writer.index());
  CHECK_FALSE(reader.is_announced());
  CHECK_FALSE(reader.peek_announced().has_value());
  REQUIRE(reader.peek().has_value());
  CHECK_FALSE(reader.is_announced());
  reader.advance();
  for (const std::uint64_t number : {1, 2}) {
    auto room = writer.reserve(5000);
    REQUIRE(room.has_value());
    CHECK_FALSE(reader.is_announced());
    const auto extra = pattern(number + 7, extra_bytes_max);
    std::copy(extra.begin(), extra.end(), room->extra().begin());
    writer.announce(*room, 3, 5, number);
    CHECK(writer.published() == number);
    CHECK_FALSE(reader.peek().has_value());
    CHECK_FALSE(reader.ready());
    REQUIRE(reader.is_announced());
    const auto announced = reader.peek_announced();
    REQUIRE(announced.has_value());
    CHECK((announced->kind == 3 && announced->flags == 5 && announced->label == number));
    CHECK(holds(announced->extra, number + 7, extra_bytes_max));
    CHECK(reader.records_before() == number);
    CHECK(reader.announced_bytes(*reader.peek_announced()) == 0);

    writer.fill(*room, pattern(number, 5000));
    CHECK(reader.announced_bytes(*reader.peek_announced()) == 5000);
    CHECK_FALSE(reader.ready());
    writer.commit(std::move(*room), 3, 5, number);
    CHECK_FALSE(reader.is_announced());
    const auto record = reader.peek();
    REQUIRE(record.has_value());
    CHECK((record->kind == 3 && record->flags == 5 && record->label == number));
    CHECK(record->payload.data() == announced->payload.data());
    CHECK(holds(record->payload, number, 5000));
    CHECK(holds(record->extra, number + 7, extra_bytes_max));
    reader.advance();
  }
  CHECK(writer.published() == 3);
}

TEST_CASE("log: who asks sees the payload of an announced record grow", "[log]") {
  Memory memory(4 * mebibyte);
  constexpr std::size_t size = 300000;
  const auto bytes = pattern(1, size);
  LogReader reader;
  std::size_t stored = 0, seen = 0;
  ArenaOptions options = small_arena();
  // Now and then it does nothing, and leaves a piece to the arena.
  options.store = [&](std::span<std::byte> to, std::span<const std::byte> from) -> std::size_t {
    REQUIRE(reader.is_announced());
    const std::uint64_t there = reader.announced_bytes(*reader.peek_announced());
    CHECK((there >= stored && there < size));
    CHECK(std::ranges::equal(reader.peek_announced()->payload.first(there), std::span(bytes).first(there)));
    ++seen;
    if (seen % 3 == 0) return 0;
    const std::size_t piece = std::min<std::size_t>(seen * 1000 + 1, to.size());
    std::ranges::copy(from.first(piece), to.begin());
    stored = there + piece;
    return piece;
  };
  auto arena = make_arena(memory, std::move(options));
  LogWriter writer = keep_all_log(*arena);
  REQUIRE(writer.publish(1, 0, 0, {}).has_value());
  reader = LogReader::open(arena->reading(), writer.index());
  REQUIRE(reader.peek().has_value());
  reader.advance();
  auto room = writer.reserve(size, LogWriter::Filling::by_fill);
  REQUIRE(room.has_value());
  CHECK_FALSE(reader.peek().has_value());  // goes to the chunk that the record has for itself
  writer.announce(*room, 1, 0, 1);
  writer.fill(*room, bytes);
  CHECK(seen > 10);
  CHECK(reader.announced_bytes(*reader.peek_announced()) == size);
  writer.commit(std::move(*room), 1, 0, 1);
  REQUIRE(reader.peek().has_value());
  CHECK(holds(reader.peek()->payload, 1, size));
}

TEST_CASE("log: readers pass over an announcement that is dropped, or whose writer dies", "[log]") {
  Memory memory(mebibyte);
  auto arena = make_arena(memory);
  LogWriter writer = keep_all_log(*arena);
  REQUIRE(writer.publish(1, 0, 0, pattern(0, 100)).has_value());
  LogReader reader = LogReader::open(arena->reading(), writer.index());
  REQUIRE(reader.peek().has_value());
  reader.advance();
  {
    auto room = writer.reserve(600);
    writer.announce(*room, 1, 0, 1);
    CHECK(reader.is_announced());
  }
  CHECK_FALSE(reader.is_announced());
  REQUIRE(writer.publish(1, 0, 1, pattern(1, 300)).has_value());
  REQUIRE(reader.peek().has_value());
  CHECK(holds(reader.peek()->payload, 1, 300));

  auto room = writer.reserve(400);
  writer.announce(*room, 1, 0, 2);
  const auto left = memory.copy();
  auto successor = make_arena(*left);
  LogReader old_reader = LogReader::open(successor->reading(), writer.index());
  for (int i = 0; i < 2; ++i) {
    REQUIRE(old_reader.peek().has_value());
    old_reader.advance();
  }
  CHECK(old_reader.is_announced());
  auto adopted = LogWriter::open(*successor, key, {.retention = Retention::keep_all});
  REQUIRE(adopted.has_value());
  CHECK(adopted->published() == 2);
  CHECK_FALSE(old_reader.is_announced());
  CHECK_FALSE(old_reader.peek().has_value());
  CHECK_FALSE(old_reader.ready());
  REQUIRE(adopted->publish(1, 0, 2, pattern(2, 500)).has_value());
  REQUIRE(old_reader.peek().has_value());
  CHECK(holds(old_reader.peek()->payload, 2, 500));
}

TEST_CASE("log: what was announced and withdrawn never turns into another record", "[log]") {
  Memory memory(8 * mebibyte);
  auto arena = make_arena(memory);
  LogWriter writer = keep_all_log(*arena);
  REQUIRE(writer.publish(1, 0, 0, pattern(0, 100)).has_value());
  LogReader late = LogReader::open(arena->reading(), writer.index());
  REQUIRE(late.peek().has_value());
  late.advance();
  const auto withdraw = [&](std::uint64_t label) {
    auto room = writer.reserve(200);
    REQUIRE(room.has_value());
    writer.announce(*room, 3, 0, label);
  };
  {
    auto room = writer.reserve(200);
    writer.announce(*room, 3, 0, 17);
    REQUIRE(late.is_announced());
  }
  // Looks at the announcement while the writer goes on.
  const LogPosition announced = late.position();
  CHECK_FALSE(late.peek_announced().has_value());
  auto room = writer.reserve(300);
  writer.announce(*room, 3, 0, 18);
  CHECK_FALSE(late.is_announced());
  CHECK_FALSE(late.peek().has_value());
  CHECK(late.position() != announced);
  REQUIRE(late.peek_announced().has_value());
  CHECK(late.peek_announced()->label == 18);
  writer.commit(std::move(*room), 3, 0, 18);

  // More in a row than a chunk has cells, and as the last before a link.
  for (std::uint64_t number = 0; number < 1000; ++number) withdraw(number);
  CHECK(writer.published() == 2);
  REQUIRE(writer.publish(1, 0, 2, pattern(2, 100)).has_value());
  const auto left = memory.copy();
  auto successor = make_arena(*left);
  auto adopted = LogWriter::open(*successor, key, {.retention = Retention::keep_all});
  REQUIRE(adopted.has_value());
  CHECK(adopted->published() == 3);
  REQUIRE(adopted->publish(1, 0, 3, pattern(3, 100)).has_value());
  LogReader all = LogReader::open(successor->reading(), adopted->index());
  for (const std::uint64_t label : {0, 18, 2, 3}) {
    std::optional<Record> record;
    for (int looks = 0; looks < 100 && !record; ++looks) record = all.peek();
    REQUIRE(record.has_value());
    CHECK(record->label == label);
    all.advance();
  }
  CHECK_FALSE(all.peek().has_value());
  CHECK_FALSE(all.failed());
}

TEST_CASE("log: a dropped reservation before a larger one leaves a chunk that readers pass", "[log]") {
  Memory memory(8 * mebibyte);
  auto arena = make_arena(memory);
  LogWriter writer = keep_all_log(*arena);
  for (std::size_t size : {100, 10000, 100000, 1000000}) REQUIRE(writer.reserve(size).has_value());
  REQUIRE(writer.publish(1, 0, 42, pattern(1, 2000000)).has_value());
  LogReader reader = LogReader::open(arena->reading(), writer.index());
  auto record = reader.peek();
  REQUIRE(record.has_value());
  CHECK(record->label == 42);
}

TEST_CASE("log: recycling reuses memory that all readers have passed, and never what one holds", "[log]") {
  Memory memory(16 * mebibyte);
  auto arena = make_arena(memory);
  auto made = LogWriter::create(*arena, key, {.readers_expected = 2});
  REQUIRE(made.has_value());
  LogWriter& writer = *made;
  auto fast_cursor = arena->cursor(key, 0);
  auto slow_cursor = arena->cursor(key, 1);
  REQUIRE((fast_cursor.has_value() && slow_cursor.has_value() && *fast_cursor != *slow_cursor));
  LogReader fast = LogReader::open(arena->reading(), writer.index(), *fast_cursor);
  LogReader slow = LogReader::open(arena->reading(), writer.index(), *slow_cursor);
  writer.add_reader(*fast_cursor);

  Random random(1);
  std::uint64_t published = 0, fast_read = 0, slow_read = 0, blocked = 0;
  auto size_of = [](std::uint64_t number) {
    return std::size_t(number * 2654435761u % (number % 50 ? 200 : 90000));
  };
  auto read_one = [&](LogReader& reader, std::uint64_t& count) {
    auto record = reader.peek();
    if (!record) return;
    REQUIRE(record->label == count);
    REQUIRE(holds(record->payload, count, size_of(count)));
    ++count;
    reader.advance();
    reader.release(reader.position_chunk());
  };
  while (published < 60000) {
    if (published == 100) writer.add_reader(*slow_cursor);
    auto status = writer.publish(1, 0, published, pattern(published, size_of(published)));
    if (status)
      ++published;
    else
      REQUIRE(status.error().code() == Errc::would_block);
    blocked += !status;
    REQUIRE(writer.live_bytes() <= 1 << 20);
    for (int i = 0; i < 3; ++i) read_one(fast, fast_read);
    if (published > 100)
      for (auto i = random.below(3) / 2 * 2; i > 0; --i) read_one(slow, slow_read);
  }
  CHECK(blocked > 0);
  CHECK(arena->counted(Counter::recycled_chunks) > 10);
  CHECK(arena->pool_used() < 4 * mebibyte);
  while (slow_read < published) read_one(slow, slow_read);
  CHECK_FALSE(slow.failed());
}

TEST_CASE("log: a full log says would_block until its reader has passed a chunk", "[log]") {
  Memory memory(16 * mebibyte);
  auto arena = make_arena(memory);
  auto writer = LogWriter::create(*arena, key, {});
  REQUIRE(writer.has_value());
  auto cursor = arena->cursor(key, 0);
  LogReader reader = LogReader::open(arena->reading(), writer->index(), *cursor);
  writer->add_reader(*cursor);
  Status status;
  while ((status = writer->publish(1, 0, 0, pattern(0, 60000)))) {
  }
  CHECK(status.error().code() == Errc::would_block);
  CHECK(writer->live_bytes() <= 512 << 10);
  while (reader.peek()) reader.advance();
  CHECK(writer->publish(1, 0, 0, pattern(0, 60000)).error().code() == Errc::would_block);
  reader.release(reader.position_chunk());
  CHECK(writer->publish(1, 0, 0, pattern(0, 60000)).has_value());
}

TEST_CASE("log: a record of any size passes a log with a small bound", "[log]") {
  Memory memory(64 * mebibyte);
  auto arena = make_arena(memory);
  auto writer = LogWriter::create(*arena, key, {.live_bytes_max = 4096});
  auto cursor = arena->cursor(key, 0);
  LogReader reader = LogReader::open(arena->reading(), writer->index(), *cursor);
  writer->add_reader(*cursor);
  for (std::uint64_t number = 0; number < 50; ++number) {
    REQUIRE(writer->publish(1, 0, number, pattern(number, 3 * mebibyte)).has_value());
    auto record = reader.peek();
    REQUIRE(record.has_value());
    REQUIRE(holds(record->payload, number, 3 * mebibyte));
    reader.advance();
    reader.release(reader.position_chunk());
  }
  CHECK(arena->pool_used() < 16 * mebibyte);
}

TEST_CASE("log: where all memory has been another log's, its chunks do for records of other sizes", "[log]") {
  Memory memory(8 * mebibyte);
  auto arena = make_arena(memory);
  {
    auto large = LogWriter::create(*arena, {1, 1}, {.live_bytes_max = 64 * mebibyte, .readers_expected = 1});
    REQUIRE(large.has_value());
    Status status;
    while ((status = large->publish(1, 0, 0, pattern(0, 100'000)))) {
    }
    REQUIRE(status.error().code() == Errc::out_of_resources);
    large->discard();
  }
  REQUIRE(arena->pool_live() == 0);
  auto small = LogWriter::create(*arena, key, {});
  REQUIRE(small.has_value());
  auto cursor = arena->cursor(key, 0);
  LogReader reader = LogReader::open(arena->reading(), small->index(), *cursor);
  small->add_reader(*cursor);
  for (std::uint64_t number = 0; number < 50'000; ++number) {
    const std::size_t size = number % 3 == 0 ? 20 : number % 100 == 1 ? 30'000 : 200;
    REQUIRE(small->publish(1, 0, number, pattern(number, size)).has_value());
    const auto record = reader.peek();
    REQUIRE(record.has_value());
    REQUIRE(holds(record->payload, number, size));
    reader.advance();
    reader.release(reader.position_chunk());
  }
  CHECK(small->publish(1, 0, 0, pattern(0, mebibyte)).error().code() == Errc::out_of_resources);
  CHECK(arena->find_damage().empty());
}

TEST_CASE("log: keep_all turned to recycle gives back what was consumed", "[log]") {
  Memory memory(16 * mebibyte);
  auto arena = make_arena(memory);
  LogWriter writer = keep_all_log(*arena);
  auto cursor = arena->cursor(key, 0);
  writer.add_reader(*cursor);
  LogReader reader = LogReader::open(arena->reading(), writer.index(), *cursor);
  for (std::uint64_t number = 0; number < 100; ++number)
    REQUIRE(writer.publish(1, 0, number, pattern(number, 50000)).has_value());
  const auto used = arena->pool_used();
  for (int i = 0; i < 60; ++i, reader.advance()) REQUIRE(reader.peek().has_value());
  reader.release(reader.position_chunk());
  const auto live = arena->pool_live();
  writer.set_retention(Retention::recycle);
  CHECK(arena->pool_live() < live / 2);
  for (std::uint64_t number = 60; number < 400; ++number) {
    auto record = reader.peek();
    if (number < 100 || record) {
      REQUIRE(record.has_value());
      REQUIRE(holds(record->payload, record->label, 50000));
      reader.advance();
      reader.release(reader.position_chunk());
    }
    if (auto status = writer.publish(1, 0, number + 40, pattern(number + 40, 50000)); !status)
      REQUIRE(status.error().code() == Errc::would_block);
  }
  CHECK(arena->pool_used() <= used + mebibyte);
}

/// A log that keeps all and has one large record, behind which its reader stands.
struct OneKept {
  static constexpr std::size_t size = 100000;
  Memory memory{4 * mebibyte};
  std::vector<std::byte> bytes = pattern(1, size);
  std::unique_ptr<ArenaWriter> arena = make_arena(memory);
  LogWriter writer = keep_all_log(*arena);
  LogReader reader;
  std::span<const std::byte> kept;  // its payload in the log

  OneKept() {
    REQUIRE(writer.publish(1, 0, 0, bytes).has_value());
    reader = LogReader::open(arena->reading(), writer.index());
    REQUIRE(reader.peek().has_value());
    kept = reader.peek()->payload;
    reader.advance();
  }
};

TEST_CASE("log: a payload that a log has already is shown again, and not kept twice", "[log]") {
  constexpr std::size_t size = OneKept::size;
  OneKept one;
  auto& [memory, bytes, arena, writer, reader, kept] = one;
  const auto used = arena->pool_used();
  for (const bool announced : {false, true}) {
    Reservation room;
    REQUIRE(writer.reserve_again(kept, room).has_value());
    CHECK(room.payload().data() == kept.data());
    if (announced) {
      std::ranges::copy(pattern(5, extra_bytes_max), room.extra().begin());
      writer.announce(room, 3, 7, 9);
      REQUIRE(reader.peek_announced().has_value());
      CHECK(reader.peek_announced()->payload.data() == kept.data());
      CHECK(reader.announced_bytes(*reader.peek_announced()) == 0);
    }
    REQUIRE(writer.equals(room, bytes));
    if (announced) CHECK(reader.announced_bytes(*reader.peek_announced()) == size);
    CHECK_FALSE(reader.ready());
    writer.commit(std::move(room), 3, 7, 9);
    const auto record = reader.peek();
    REQUIRE(record.has_value());
    CHECK((record->kind == 3 && record->flags == 7 && record->label == 9));
    CHECK((record->payload.data() == kept.data() && record->payload.size() == size));
    CHECK(holds(record->extra, 5, extra_bytes_max) == announced);
    reader.advance();
  }
  CHECK(arena->pool_used() == used);
  CHECK(writer.published() == 3);
  CHECK(arena->log(writer.index()).published_bytes.load() == 3 * size);
  CHECK(arena->counted(Counter::bytes_repeated) == 2 * size);

  // What follows does not lie where the repeated payload ends, under a successor neither.
  REQUIRE(writer.publish(1, 0, 3, pattern(3, 500)).has_value());
  Reservation room;
  REQUIRE(writer.reserve_again(kept, room).has_value());
  writer.commit(std::move(room), 1, 0, 4);
  const auto left = memory.copy();
  auto successor = make_arena(*left);
  auto adopted = LogWriter::open(*successor, key, {.retention = Retention::keep_all});
  REQUIRE(adopted.has_value());
  CHECK(adopted->published() == 5);
  REQUIRE(adopted->publish(1, 0, 5, pattern(5, 300)).has_value());
  LogReader all = LogReader::open(successor->reading(), adopted->index());
  const std::size_t sizes[] = {size, size, size, 500, size, 300};
  for (const std::size_t record_bytes : sizes) {
    const auto record = all.peek();
    REQUIRE(record.has_value());
    CHECK(holds(record->payload, record_bytes == size ? 1 : record->label, record_bytes));
    all.advance();
  }
  CHECK_FALSE(all.peek().has_value());
}

TEST_CASE("log: a payload that turns out to be another is not shown again", "[log]") {
  constexpr std::size_t size = OneKept::size;
  OneKept one;
  auto& [memory, bytes, arena, writer, reader, kept] = one;
  bytes[size - 1] = ~bytes[size - 1];
  {
    Reservation room;
    REQUIRE(writer.reserve_again(kept, room).has_value());
    writer.announce(room, 1, 0, 1);
    CHECK_FALSE(writer.equals(room, bytes));
    // Its beginning is the same, and may have been taken.
    CHECK((reader.announced_bytes(*reader.peek_announced()) > 0 &&
           reader.announced_bytes(*reader.peek_announced()) < size));
  }
  CHECK_FALSE(reader.is_announced());
  REQUIRE(writer.publish(1, 0, 1, bytes).has_value());
  REQUIRE(reader.peek().has_value());
  CHECK(reader.peek()->payload.data() != kept.data());
  CHECK(std::ranges::equal(reader.peek()->payload, bytes));
  CHECK(holds(kept, 1, size));
  CHECK(arena->counted(Counter::bytes_repeated) == 0);
}

TEST_CASE("log: what is no longer kept is held while a record that repeats it may be read", "[log]") {
  for (const bool adopted : {false, true}) {
    Memory memory(16 * mebibyte);
    auto arena = make_arena(memory);
    LogWriter writer = keep_all_log(*arena);
    constexpr std::size_t size = 50000;
    REQUIRE(writer.publish(1, 0, 0, pattern(0, size)).has_value());
    LogReader look = LogReader::open(arena->reading(), writer.index());
    const auto kept = look.peek()->payload;
    // All but the last record of a chunk that has no more room.
    for (std::uint64_t number = 1; number < 60; ++number)
      REQUIRE(writer.publish(1, 0, number, pattern(number, size)).has_value());
    Reservation room;
    REQUIRE(writer.reserve_again(kept, room).has_value());
    writer.commit(std::move(room), 1, 0, 60);
    if (adopted) {
      writer = {};
      arena = make_arena(memory);
      writer = std::move(*LogWriter::open(*arena, key, {.retention = Retention::keep_all}));
    }
    auto cursor = arena->cursor(key, 0);
    writer.add_reader(*cursor);
    LogReader reader = LogReader::open(arena->reading(), writer.index(), *cursor);
    for (int i = 0; i < 60; ++i, reader.advance()) REQUIRE(reader.peek().has_value());
    reader.release(reader.position_chunk());
    const auto live = arena->pool_live();
    writer.set_retention(Retention::recycle);
    CHECK(arena->pool_live() >= live);
    // The writer goes on, as far as its bound lets it, and writes over nothing that is still to be read.
    std::uint64_t number = 61;
    for (; number < 1000; ++number)
      if (!writer.publish(1, 0, number, pattern(number, size))) break;
    CHECK((number > 61 && number < 1000));
    REQUIRE(reader.peek().has_value());
    CHECK((reader.peek()->label == 60 && holds(reader.peek()->payload, 0, size)));
    reader.advance();
    for (std::uint64_t read = 61; read < 400; ++read) {
      const auto record = reader.peek();
      REQUIRE(record.has_value());
      CHECK(holds(record->payload, read, size));
      reader.advance();
      reader.release(reader.position_chunk());
      while (writer.publish(1, 0, number, pattern(number, size))) ++number;
    }
    CHECK(arena->pool_live() < live / 2);
  }
}

TEST_CASE("log: what is used again repeats the payloads of the chunk that is written, and no others",
          "[log]") {
  Memory memory(16 * mebibyte);
  constexpr std::size_t size = 5000;
  auto arena = make_arena(memory);
  auto made = LogWriter::create(*arena, key, {});
  REQUIRE(made.has_value());
  LogWriter& writer = *made;
  auto cursor = arena->cursor(key, 0);
  REQUIRE(cursor.has_value());
  writer.add_reader(*cursor);
  LogReader reader = LogReader::open(arena->reading(), writer.index(), *cursor);
  // The same contents come again and again, from several sources, which remember where they lay last.
  const auto content_of = [](std::uint64_t number) {
    return (number * number * 0x9e3779b97f4a7c15 >> 40) % 40;
  };
  std::array<std::span<const std::byte>, 36> kept_of;
  std::uint64_t repeated = 0, others = 0, read = 0;
  const auto repeat = [&](std::uint64_t number, std::span<const std::byte> bytes) {
    const auto kept = kept_of[content_of(number) % kept_of.size()];
    if (kept.empty() || !writer.can_repeat(kept)) return false;
    Reservation room;
    REQUIRE(writer.reserve_again(kept, room).has_value());
    if (!writer.equals(room, bytes)) {
      ++others;
      return false;
    }
    writer.commit(std::move(room), 1, 0, number);
    ++repeated;
    return true;
  };
  for (std::uint64_t number = 0; number < 5000; ++number) {
    const auto bytes = pattern(content_of(number), size);
    while (!repeat(number, bytes)) {
      if (auto room = writer.reserve(size)) {
        std::ranges::copy(bytes, room->payload().begin());
        kept_of[content_of(number) % kept_of.size()] = room->payload();
        writer.commit(std::move(*room), 1, 0, number);
        break;
      }
      // All that is there, and it is what was published, though much of it lies in the same place.
      for (auto record = reader.peek(); record; record = reader.peek()) {
        REQUIRE(record->label == read);
        REQUIRE(holds(record->payload, content_of(read++), size));
        reader.advance();
        reader.release(reader.position_chunk());
      }
    }
  }
  CHECK(repeated > 500);
  CHECK(others > 20);
  CHECK(arena->counted(Counter::bytes_repeated) == repeated * size);
  // No more is held than without: chunks are used again as they are read.
  CHECK(arena->pool_live() < mebibyte);
  CHECK(arena->counted(Counter::recycled_chunks) > 30);

  const auto left = memory.copy();
  auto successor = make_arena(*left);
  auto adopted = LogWriter::open(*successor, key, {});
  REQUIRE(adopted.has_value());
  CHECK(adopted->published() == 5000);
  REQUIRE(adopted->publish(1, 0, 5000, pattern(content_of(5000), size)).has_value());
  auto own = successor->cursor(key, 0);
  REQUIRE(own.has_value());
  LogReader rest = LogReader::open_at(successor->reading(), adopted->index(), reader.position(), *own);
  for (; read <= 5000; ++read, rest.advance()) {
    const auto record = rest.peek();
    REQUIRE(record.has_value());
    CHECK(holds(record->payload, content_of(read), size));
  }
  CHECK_FALSE(writer.can_repeat(memory.bytes().first(size)));
}

TEST_CASE("log: of a record whose payload lies elsewhere there are its size and its number", "[log]") {
  Memory memory(16 * mebibyte);
  {
    auto arena = make_arena(memory);
    LogWriter writer = keep_all_log(*arena);
    LogReader reader = LogReader::open(arena->reading(), writer.index());
    for (std::uint64_t number = 1; number <= 300; ++number) {
      REQUIRE(writer.publish(7, 3, number, pattern(number, 100)).has_value());
      REQUIRE(writer.publish_absent(7, 3, number, {number, 1ULL << 33}).has_value());
      const auto whole = reader.peek();
      REQUIRE(whole.has_value());
      CHECK(whole->absent_bytes == 0);
      reader.advance();
      const auto absent = reader.peek();
      REQUIRE(absent.has_value());
      CHECK((absent->kind == 7 && absent->flags == 3 && absent->label == number));
      CHECK((absent->absent_record == number && absent->absent_bytes == 1ULL << 33));
      CHECK((absent->payload.empty() && absent->extra.empty()));
      reader.advance();
    }
  }
  // A successor counts them, and what it writes lies behind what is there.
  auto successor = make_arena(memory);
  auto adopted = LogWriter::open(*successor, key, {.retention = Retention::keep_all});
  REQUIRE(adopted.has_value());
  CHECK(adopted->published() == 600);
  REQUIRE(adopted->publish(7, 3, 301, pattern(301, 100)).has_value());
  LogReader reader = LogReader::open(successor->reading(), adopted->index());
  for (std::uint64_t number = 1; number <= 301; ++number) {
    const auto whole = reader.peek();
    REQUIRE(whole.has_value());
    CHECK(holds(whole->payload, number, 100));
    reader.advance();
    if (number > 300) break;
    REQUIRE(reader.peek().has_value());
    CHECK(reader.peek()->absent_record == number);
    reader.advance();
  }
}

TEST_CASE("arena: growth is asked for in extents and its refusal is out_of_resources", "[log]") {
  Memory memory(64 * mebibyte);
  std::uint64_t granted = 0;
  ArenaOptions options = small_arena();
  options.may_grow = [&](std::uint64_t more) {
    return granted + more <= 3 * mebibyte ? (granted += more, true) : false;
  };
  auto arena = make_arena(memory, std::move(options));
  LogWriter writer = keep_all_log(*arena);
  Status status;
  while ((status = writer.publish(1, 0, 0, pattern(0, 1000)))) {
  }
  CHECK(status.error().code() == Errc::out_of_resources);
  CHECK(granted == 3 * mebibyte);
  CHECK(arena->pool_used() <= granted);
  CHECK(arena->pool_used() == arena->pool_live());
}

TEST_CASE("arena: what is prepared ahead lies behind what is used", "[log]") {
  Memory memory(8 * mebibyte);
  auto arena = make_arena(memory);
  auto ahead = arena->ahead(mebibyte);
  CHECK(ahead.size() == mebibyte);
  CHECK(reinterpret_cast<std::uintptr_t>(ahead.data()) % 4096 == 0);
  CHECK(arena->ahead(1ull << 40).size() < 8 * mebibyte);
}

TEST_CASE("arena: entries that are no longer needed are used again, and found by who looked at them before",
          "[log]") {
  Memory memory(8 * mebibyte);
  auto arena = make_arena(memory);
  const PeerArena peer = arena->reading();
  DirectoryScan logs, cursors;
  for (std::uint64_t round = 1; round <= 500; ++round) {
    auto log = LogWriter::open(*arena, {1, round}, {});
    REQUIRE(log.has_value());
    REQUIRE(log->publish(1, 0, round, {}).has_value());
    auto cursor = arena->cursor({2, round}, 3);
    REQUIRE(cursor.has_value());
    const auto found = find_log(peer, {1, round}, logs);
    REQUIRE(found);
    CHECK(LogReader::open(peer, *found).peek()->label == round);
    CHECK(find_cursor(peer, {2, round}, 3, cursors) == *cursor);
    CHECK_FALSE(find_log(peer, {1, round - 1}, logs));
    (*cursor)->consumed = round;
    arena->remove_cursor(*cursor);
    log->discard();
    CHECK_FALSE(find_log(peer, {1, round}, logs));
    CHECK(arena->find_damage().empty());
  }
  CHECK(peer.log_count() == 1);
  CHECK(peer.cursor_count() == 1);
  CHECK(arena->pool_live() == 0);
}

TEST_CASE("arena: entries are found by key, each looked at once, and a full directory says so", "[log]") {
  Memory memory(8 * mebibyte);
  auto arena = make_arena(memory);
  std::uint32_t scanned = 0;
  CHECK_FALSE(find_log(arena->reading(), {1, 5}, scanned));
  for (std::uint64_t i = 0; i < 64; ++i) REQUIRE(arena->add_log({1, i}, 0, 0).has_value());
  CHECK(find_log(arena->reading(), {1, 5}, scanned) == 5u);
  CHECK(scanned == 6);
  CHECK(arena->add_log({2, 2}, 0, 0).error().code() == Errc::out_of_resources);
  auto endpoint = arena->add_endpoint({.topic = "Square", .type = "ShapeType", .qos = "RELIABLE"});
  REQUIRE(endpoint.has_value());
  CHECK(std::string(arena->reading().endpoint(*endpoint).topic) == "Square");
  const std::string long_name(64, 'x');
  CHECK(arena->add_endpoint({.topic = long_name}).error().code() == Errc::invalid_argument);
}

TEST_CASE("arena: memory that is no arena is never ready", "[log]") {
  Memory memory(1 * mebibyte);
  PeerArena peer{memory.bytes().data(), memory.bytes().size()};
  CHECK_FALSE(peer.ready());
  CHECK(peer.log_count() == 0);
  CHECK_FALSE(PeerArena{}.ready());
  CHECK(ArenaWriter::adopt(memory.bytes(), small_arena()).error().code() == Errc::parse_error);
  CHECK(ArenaWriter::create(memory.bytes().first(4096), small_arena()).error().code() ==
        Errc::invalid_argument);
}

}  // namespace
}  // namespace llamada::log
