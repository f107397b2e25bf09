#include <array>
#include <thread>

#include "arena_fixture.hpp"

// Between processes no sanitizer can look; here the same structures run between threads of one.

namespace llamada::log {
namespace {

constexpr LogKey key{1, 1};

std::size_t size_of(std::uint64_t number) { return number % 64 == 63 ? 5000 + number % 3000 : number % 60; }

void check(const Record& record, std::uint64_t number, std::uint64_t& wrong) {
  wrong += record.label != number || record.payload.size() != size_of(number);
  for (std::size_t i = 0; i < record.payload.size(); i += 16)
    wrong += record.payload[i] != static_cast<std::byte>(number + i);
}

void fill(std::span<std::byte> payload, std::uint64_t number) {
  for (std::size_t i = 0; i < payload.size(); ++i) payload[i] = static_cast<std::byte>(number + i);
}

void run(Retention retention, int reader_count, std::uint64_t record_count) {
  Memory memory(std::size_t{1} << 30);
  auto arena = make_arena(memory);
  auto made = LogWriter::create(*arena, key,
                                {.retention = retention, .readers_expected = std::uint32_t(reader_count)});
  REQUIRE(made.has_value());
  LogWriter& writer = *made;
  std::vector<CursorEntry*> cursors;
  for (int i = 0; i < reader_count; ++i) {
    cursors.push_back(*arena->cursor(key, i));
    writer.add_reader(cursors.back());
  }
  std::vector<std::uint64_t> wrong(reader_count);
  std::vector<std::thread> readers;
  const PeerArena peer = arena->reading();
  for (int i = 0; i < reader_count; ++i)
    readers.emplace_back([&, i, peer] {
      LogReader reader = LogReader::open(peer, 0, cursors[i]);
      for (std::uint64_t number = 0; number < record_count;) {
        auto record = reader.peek();
        if (!record) {
          reader.release(reader.position_chunk());
          std::this_thread::yield();
          continue;
        }
        check(*record, number++, wrong[i]);
        reader.advance();
        reader.release(reader.position_chunk());
      }
    });
  std::vector<std::byte> small(64);
  bool used_up = false;
  for (std::uint64_t number = 0; number < record_count && !used_up;) {
    const std::size_t size = size_of(number);
    if (size <= inline_payload_max) {
      fill({small.data(), size}, number);
      if (writer.try_publish(1, 0, number, {small.data(), size})) {
        ++number;
        continue;
      }
    }
    auto room = writer.reserve(size);
    if (room) {
      fill(room->payload(), number);
      writer.commit(std::move(*room), 1, 0, number++);
    } else {
      used_up = room.error().code() != Errc::would_block;
      std::this_thread::yield();
    }
  }
  for (auto& reader : readers) reader.join();
  for (std::uint64_t count : wrong) CHECK(count == 0);
  CHECK_FALSE(used_up);
}

/// Records of some pieces each, announced; the reader takes what is there as it comes. Where `repeats`, two
/// of three seem to have the payload of the one before, and one has.
void run_announced(std::uint64_t record_count, bool repeats) {
  constexpr std::size_t size = 70000;
  Memory memory(std::size_t{1} << 30);
  auto arena = make_arena(memory);
  auto made = LogWriter::create(*arena, key, {.retention = Retention::keep_all});
  REQUIRE(made.has_value());
  std::uint64_t wrong = 0;
  const auto content_of = [&](std::uint64_t number) {
    return repeats && number % 3 == 1 ? number - 1 : number;
  };
  std::thread receiver([&, peer = arena->reading()] {
    LogReader reader = LogReader::open(peer, 0);
    std::vector<std::byte> taken(size), expected(size);
    const std::byte* from = nullptr;
    std::size_t bytes = 0;
    const auto take = [&](std::span<const std::byte> payload, std::size_t up_to) {
      // What was announced at another place is not of this record.
      if (std::exchange(from, payload.data()) != payload.data()) bytes = 0;
      std::copy(payload.begin() + bytes, payload.begin() + up_to, taken.begin() + bytes);
      bytes = up_to;
    };
    for (std::uint64_t number = 0; number < record_count;) {
      if (const auto record = reader.peek()) {
        take(record->payload, size);
        fill(expected, content_of(number++));
        wrong += record->payload.size() != size || taken != expected;
        bytes = 0;
        from = nullptr;
        reader.advance();
      } else if (const auto announced = reader.peek_announced()) {
        const std::uint64_t there = reader.announced_bytes(*announced);
        if (there > bytes || from != announced->payload.data()) take(announced->payload, there);
      }
    }
  });
  std::vector<std::byte> message(size);
  std::span<const std::byte> kept;
  for (std::uint64_t number = 0; number < record_count; ++number) {
    fill(message, content_of(number));
    Reservation again;
    if (repeats && number % 3 != 0 && made->reserve_again(kept, again)) {
      made->announce(again, 1, 0, number);
      if (made->equals(again, message)) {
        made->commit(std::move(again), 1, 0, number);
        continue;
      }
      again.drop();
    }
    auto room = made->reserve(size, LogWriter::Filling::by_fill);
    made->announce(*room, 1, 0, number);
    made->fill(*room, message);
    kept = room->payload();
    made->commit(std::move(*room), 1, 0, number);
  }
  receiver.join();
  CHECK(wrong == 0);
}

/// Records many of which repeat a payload of their chunk, in a log that is used again and again.
void run_repeating(std::uint64_t record_count) {
  constexpr std::size_t size = 3000;
  constexpr int reader_count = 2;
  Memory memory(std::size_t{1} << 26);
  auto arena = make_arena(memory);
  auto made = LogWriter::create(*arena, key, {.readers_expected = reader_count});
  REQUIRE(made.has_value());
  const auto content_of = [](std::uint64_t number) {
    return (number * number * 0x9e3779b97f4a7c15 >> 40) % 40;
  };
  std::uint64_t wrong[reader_count] = {};
  std::vector<std::thread> readers;
  for (int i = 0; i < reader_count; ++i) {
    CursorEntry* const cursor = *arena->cursor(key, static_cast<std::uint32_t>(i));
    made->add_reader(cursor);
    readers.emplace_back([&, i, cursor, peer = arena->reading()] {
      LogReader reader = LogReader::open(peer, 0, cursor);
      std::vector<std::byte> expected(size);
      for (std::uint64_t number = 0; number < record_count;) {
        const auto record = reader.peek();
        if (!record) {
          std::this_thread::yield();
          continue;
        }
        fill(expected, content_of(number++));
        wrong[i] += !std::ranges::equal(record->payload, expected);
        reader.advance();
        reader.release(reader.position_chunk());
      }
    });
  }
  std::vector<std::byte> message(size);
  std::array<std::span<const std::byte>, 36> kept_of;
  for (std::uint64_t number = 0; number < record_count;) {
    fill(message, content_of(number));
    auto& kept = kept_of[content_of(number) % kept_of.size()];
    Reservation room;
    if (!kept.empty() && made->can_repeat(kept)) {
      REQUIRE(made->reserve_again(kept, room).has_value());
      if (made->equals(room, message)) {
        made->commit(std::move(room), 1, 0, number++);
        continue;
      }
      room.drop();
    }
    if (!made->reserve(size, room)) {
      std::this_thread::yield();
      continue;
    }
    made->fill(room, message);
    kept = room.payload();
    made->commit(std::move(room), 1, 0, number++);
  }
  for (auto& reader : readers) reader.join();
  for (const std::uint64_t count : wrong) CHECK(count == 0);
  CHECK(arena->counted(Counter::bytes_repeated) > record_count / 5 * size);
}

TEST_CASE("threads: records that repeat payloads of a log that is used again and again", "[log][threads]") {
  run_repeating(30000);
}

TEST_CASE("threads: announced records are taken as they are filled", "[log][threads]") {
  run_announced(4000, false);
}

TEST_CASE("threads: announced records that repeat a payload, or seem to, are taken as they are compared",
          "[log][threads]") {
  run_announced(6000, true);
}

TEST_CASE("threads: one writer and three readers, recycling", "[log][threads]") {
  run(Retention::recycle, 3, 500000);
}

TEST_CASE("threads: one writer and one reader, recycling", "[log][threads]") {
  run(Retention::recycle, 1, 1000000);
}

TEST_CASE("threads: one writer and two readers, keeping all", "[log][threads]") {
  run(Retention::keep_all, 2, 500000);
}

}  // namespace
}  // namespace llamada::log
