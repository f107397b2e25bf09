#include "p2p/last_payload.hpp"

#include <algorithm>

#include "../log/arena_fixture.hpp"
#include "llamada/base/random.hpp"
#include "test.hpp"

namespace llamada::mpi {
namespace {

using namespace log;

constexpr std::size_t mebibyte = 1 << 20;

/// A writer that asks as a sender of messages does, and a reader that takes each record.
struct Sender {
  Memory memory{16 * mebibyte};
  std::unique_ptr<log::ArenaWriter> arena = make_arena(memory);
  log::LogWriter log;
  log::LogReader reader;
  LastPayload last;
  int looks = 0;

  explicit Sender(log::Retention retention) {
    auto made = log::LogWriter::create(*arena, {1, 1}, {.retention = retention});
    REQUIRE(made.has_value());
    log = std::move(*made);
    auto cursor = arena->cursor({1, 1}, 0);
    REQUIRE(cursor.has_value());
    log.add_reader(*cursor);
    reader = log::LogReader::open(arena->reading(), log.index(), *cursor);
  }
  /// Whether it was repeated.
  bool send(std::span<const std::byte> bytes) {
    const auto before = arena->counted(log::Counter::bytes_repeated);
    const bool done =
        last.is_to_skip() ? log.try_publish(1, 2, 3, bytes) : last.try_publish(log, 1, 2, 3, bytes);
    if (!done) REQUIRE(log.publish(1, 2, 3, bytes).has_value());
    const auto record = reader.peek();
    REQUIRE(record.has_value());
    CHECK((record->kind == 1 && record->flags == 2 && record->label == 3));
    CHECK(std::ranges::equal(record->payload, bytes));
    CHECK(std::ranges::all_of(record->extra, [](std::byte byte) { return byte == std::byte{0}; }));
    reader.advance();
    reader.release(reader.position_chunk());
    return arena->counted(log::Counter::bytes_repeated) == before + bytes.size();
  }
};

TEST_CASE("last payload: what comes again unchanged is written once for each chunk", "[mpi]") {
  for (const auto retention : {log::Retention::recycle, log::Retention::keep_all}) {
    Sender sender(retention);
    const auto bytes = pattern(1, 1500);
    int repeated = 0;
    for (int i = 0; i < 10000; ++i) repeated += sender.send(bytes);
    CHECK(repeated > 9800);
    CHECK(sender.arena->pool_live() < 3 * mebibyte);
  }
}

TEST_CASE("last payload: what changes is written, and is soon hardly looked at", "[mpi]") {
  for (const auto retention : {log::Retention::recycle, log::Retention::keep_all}) {
    Sender sender(retention);
    Random random(7);
    auto bytes = pattern(1, 2000), others = pattern(2, 2000);
    for (int i = 0; i < 1000; ++i) {
      bytes[random.next() % bytes.size()] ^= std::byte{1};
      CHECK_FALSE(sender.send(bytes));
    }
    CHECK(sender.looks < 40);
    // As what comes from two places in turn.
    for (int i = 0; i < 1000; ++i) CHECK_FALSE(sender.send(i % 2 ? bytes : others));
    // Nothing is forgotten for good.
    int repeated = 0;
    for (int i = 0; i < 1000; ++i) repeated += sender.send(bytes);
    CHECK(repeated > 400);
    // One that is changed now and then.
    for (int i = 0; i < 1000; ++i) {
      if (random.next() % 8 == 0) bytes[random.next() % bytes.size()] ^= std::byte{1};
      (void)sender.send(bytes);
    }
  }
}

}  // namespace
}  // namespace llamada::mpi
