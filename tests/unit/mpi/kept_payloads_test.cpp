#include "p2p/kept_payloads.hpp"

#include <cstring>
#include <vector>

#include "../log/arena_fixture.hpp"
#include "test.hpp"

namespace llamada::mpi {
namespace {

using namespace log;

constexpr std::size_t size = 5000;
constexpr std::size_t mebibyte = 1 << 20;
constexpr LogKey key{7, 9};

TEST_CASE("kept payloads: what was published from the same memory is found as long as it seems unchanged",
          "[mpi]") {
  std::vector<std::byte> memory(size), kept(memory), other(memory);
  KeptPayloads payloads;
  CHECK(payloads.find(memory).kept.empty());
  payloads.add(memory, kept);
  CHECK(payloads.find(memory).kept.data() == kept.data());
  CHECK(payloads.find(memory).kept.size() == size);
  CHECK(payloads.find(other).kept.empty());
  CHECK(payloads.find(std::span(memory).first(size - 1)).kept.empty());
  for (const std::size_t at : {std::size_t{0}, size - 1}) {
    memory[at] = std::byte{1};
    CHECK(payloads.find(memory).kept.empty());
    payloads.add(memory, other);
    CHECK(payloads.find(memory).kept.data() == other.data());
  }
}

TEST_CASE("kept payloads: of memory that seems unchanged and is not one is given more and more rarely",
          "[mpi]") {
  std::vector<std::byte> memory(size), kept(memory);
  KeptPayloads payloads;
  payloads.add(memory, kept);
  int given = 0;
  for (int sent = 0; sent < 1000; ++sent) {
    if (!payloads.find(memory).kept.empty()) {
      ++given;
      payloads.compared(memory, false);
    }
    payloads.add(memory, kept);
  }
  CHECK((given > 10 && given < 25));
  while (payloads.find(memory).kept.empty()) {
  }
  payloads.compared(memory, true);
  for (int sent = 0; sent < 10; ++sent) CHECK_FALSE(payloads.find(memory).kept.empty());
  payloads.compared(memory, false);
  CHECK(payloads.find(memory).kept.empty());
  CHECK(payloads.find(memory).kept.empty());
  CHECK_FALSE(payloads.find(memory).kept.empty());
}

TEST_CASE("kept payloads: many buffers are known at a time", "[mpi]") {
  constexpr std::size_t count = 3000;
  std::vector<std::byte> memory(count * 64 + size);
  KeptPayloads payloads;
  const auto part = [&](std::size_t i) { return std::span<const std::byte>(memory).subspan(i * 64, size); };
  for (const std::size_t several : {10, 100, 3000}) {
    for (int times = 0; times < 10; ++times)
      for (std::size_t i = 0; i < several; ++i)
        if (payloads.find(part(i)).kept.empty()) payloads.add(part(i), part(i));
    std::size_t found = 0;
    for (std::size_t i = 0; i < several; ++i) {
      const auto kept = payloads.find(part(i)).kept;
      CHECK((kept.empty() || kept.data() == part(i).data()));
      found += !kept.empty();
    }
    // In no more than some memory.
    CHECK(found >= std::min<std::size_t>(several * 3 / 4, 500));
    CHECK(found <= 1024);
  }
}

TEST_CASE("kept payloads: what changes all the time is looked at now and then, unless all is kept", "[mpi]") {
  for (const bool keeps_all : {false, true}) {
    std::vector<std::byte> memory(size), kept(memory);
    KeptPayloads payloads(keeps_all);
    for (int sent = 0; sent < 1000; ++sent) {
      memory[0] = static_cast<std::byte>(sent);
      CHECK(payloads.find(memory).kept.empty());
      payloads.add(memory, kept);
    }
    int sent = 0;
    for (; payloads.find(memory).kept.empty(); ++sent) payloads.add(memory, kept);
    CHECK(sent <= (keeps_all ? 0 : 68));
    // One that changes now and then is known every time that it has not.
    for (int i = 0; i < 100; ++i) {
      payloads.compared(memory, true);
      memory[0] = ~memory[0];
      CHECK(payloads.find(memory).kept.empty());
      payloads.add(memory, kept);
      CHECK_FALSE(payloads.find(memory).kept.empty());
    }
  }
}

TEST_CASE("kept payloads: no more are known than a chunk that is used again has room for", "[mpi]") {
  std::vector<std::byte> memory(100 * size);
  KeptPayloads payloads(false);
  for (int times = 0; times < 10; ++times)
    for (std::size_t i = 0; i < 100; ++i) {
      const auto part = std::span<const std::byte>(memory).subspan(i * size, size);
      payloads.add(part, part);
    }
  std::size_t found = 0;
  for (std::size_t i = 0; i < 100; ++i)
    found += !payloads.find(std::span(memory).subspan(i * size, size)).kept.empty();
  CHECK((found > 16 && found <= 32));
}

/// Who publishes some memory again and again, in a log that is used again, and who reads that.
struct Publisher {
  Memory memory{16 * mebibyte};
  std::unique_ptr<ArenaWriter> arena = make_arena(memory);
  LogWriter writer;
  LogReader reader;
  KeptPayloads kept{false};
  int shown = 0;

  Publisher() {
    auto made = LogWriter::create(*arena, key, {});
    REQUIRE(made.has_value());
    writer = std::move(*made);
    auto cursor = arena->cursor(key, 0);
    REQUIRE(cursor.has_value());
    writer.add_reader(*cursor);
    reader = LogReader::open(arena->reading(), writer.index(), *cursor);
  }
  Again publish(std::span<const std::byte> bytes) {
    Reservation room;
    const Again again = kept.reserve_again(writer, bytes, room, [&] { ++shown; });
    if (again == Again::reserved) {
      writer.commit(std::move(room), 1, 0, 0);
    } else if (again == Again::to_write) {
      CHECK_FALSE(room);
      REQUIRE(writer.reserve(bytes.size(), room).has_value());
      std::ranges::copy(bytes, room.payload().begin());
      kept.add(bytes, room.payload());
      writer.commit(std::move(room), 1, 0, 0);
    }
    if (again == Again::uncertain) return again;
    const auto record = reader.peek();
    REQUIRE(record.has_value());
    // Not byte by byte: a sanitizer looks at each access.
    CHECK((record->payload.size() == bytes.size() &&
           std::memcmp(record->payload.data(), bytes.data(), bytes.size()) == 0));
    reader.advance();
    reader.release(reader.position_chunk());
    return again;
  }
};

TEST_CASE("kept payloads: whether what is published again is to be written depends on what came of it before",
          "[mpi]") {
  Publisher publisher;
  const int& shown = publisher.shown;
  const auto publish = [&](std::span<const std::byte> bytes) { return publisher.publish(bytes); };
  auto bytes = pattern(1, 100000);
  const auto other = pattern(2, 120000);
  CHECK(publish(bytes) == Again::to_write);
  CHECK(publish(bytes) == Again::reserved);
  // Behind the chunk's end once more, because it was of use; but not what never came again before it.
  CHECK(publish(other) == Again::to_write);
  CHECK(publish(bytes) == Again::to_write);
  CHECK(publish(other) == Again::uncertain);
  CHECK(publish(bytes) == Again::reserved);
  CHECK(shown == 2);
  // Where no word is looked at: found out, written, and for some time not compared.
  bytes[bytes.size() / 2] = ~bytes[bytes.size() / 2];
  CHECK(publish(bytes) == Again::to_write);
  CHECK(shown == 3);
  CHECK(publish(bytes) == Again::uncertain);
  CHECK(publish(bytes) == Again::uncertain);
  CHECK(shown == 3);
  CHECK(publish(bytes) == Again::reserved);
  for (int i = 0; i < 100; ++i) {
    bytes[0] = static_cast<std::byte>(i + 100);
    CHECK(publish(bytes) == Again::to_write);
  }
  CHECK(shown == 4);
}

TEST_CASE("kept payloads: what is nearly a payload that is kept is found, with the lines that differ",
          "[mpi]") {
  Memory memory(64 * mebibyte);
  auto arena = make_arena(memory);
  LogOptions options;
  options.retention = Retention::keep_all;
  auto writer = LogWriter::create(*arena, key, options);
  REQUIRE(writer.has_value());
  KeptPayloads kept;
  int shown = 0;
  constexpr int written = -1;
  // Gives how many lines differ.
  const auto publish = [&](std::span<const std::byte> bytes) {
    Reservation room;
    Differences differences(bytes.size());
    const auto again = kept.reserve_again(
        *writer, bytes, room, [&] { ++shown; }, &differences);
    if (again == Again::reserved) {
      std::vector<std::byte> patched(room.payload().begin(), room.payload().end());
      for (const std::size_t line : differences.lines()) {
        const auto piece = bytes.subspan(line * 64, std::min<std::size_t>(64, bytes.size() - line * 64));
        std::ranges::copy(piece, patched.begin() + static_cast<std::ptrdiff_t>(line * 64));
      }
      CHECK(std::ranges::equal(patched, bytes));
      return static_cast<int>(differences.lines().size());
    }
    CHECK(again == Again::to_write);
    REQUIRE(writer->reserve(bytes.size(), room).has_value());
    std::ranges::copy(bytes, room.payload().begin());
    kept.add(bytes, room.payload());
    writer->commit(std::move(room), 1, 0, 0);
    return written;
  };
  auto bytes = pattern(1, 200'001);
  CHECK(publish(bytes) == written);
  CHECK(publish(bytes) == 0);
  bytes.front() ^= std::byte{1};
  bytes.back() ^= std::byte{1};
  CHECK(publish(bytes) == 2);
  // More and more: written anew when it is too much, and compared with that from then on.
  int expected = 2;
  for (std::size_t at = 1000; expected < static_cast<int>(Differences::lines_max(bytes.size())); at += 128) {
    bytes[at] ^= std::byte{1};
    CHECK(publish(bytes) == ++expected);
  }
  bytes[100'000] ^= std::byte{1};
  CHECK(publish(bytes) == written);
  bytes[100'100] ^= std::byte{1};
  CHECK(publish(bytes) == 1);
  shown = 0;
  for (std::uint64_t i = 2; i < 102; ++i) {
    std::ranges::copy(pattern(i, bytes.size()), bytes.begin());
    CHECK(publish(bytes) == written);
  }
  CHECK(shown < 20);
}

TEST_CASE("kept payloads: of more than a chunk has room for none is written again and again", "[mpi]") {
  Publisher publisher;
  std::vector<std::vector<std::byte>> all;
  for (std::uint64_t i = 0; i < 5; ++i) all.push_back(pattern(i, 65536));
  const auto count = [&](int rounds, std::size_t several) {
    std::map<Again, int> counted;
    for (int round = 0; round < rounds; ++round)
      for (std::size_t i = 0; i < several; ++i) ++counted[publisher.publish(all[i])];
    return counted;
  };
  // Two have room, and are written once for each chunk's worth of cells.
  auto counted = count(1000, 2);
  CHECK((counted[Again::to_write] > 2 && counted[Again::to_write] < 50));
  CHECK(counted[Again::uncertain] == 0);
  counted = count(1000, 5);
  CHECK(counted[Again::to_write] * 20 < counted[Again::uncertain]);
  // In time it is found out that fewer do.
  for (const std::size_t several : {2, 1}) {
    counted = count(20000, several);
    CHECK((counted[Again::to_write] + counted[Again::uncertain]) * 5 < counted[Again::reserved]);
  }
}

}  // namespace
}  // namespace llamada::mpi
