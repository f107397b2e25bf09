#include "arena_fixture.hpp"
#include "llamada/base/random.hpp"
#include "llamada/log/cuts.hpp"
#include "llamada/log/journal.hpp"

namespace llamada::log {
namespace {

constexpr LogKey key{7, 9};
constexpr LogKey journal_key{7, 10};
constexpr std::size_t arena_bytes = 1 << 20;

void write_some(Memory& memory) {
  auto arena = make_arena(memory);
  auto writer = LogWriter::create(*arena, key, {.retention = Retention::keep_all});
  LogReader reader = LogReader::open(arena->reading(), writer->index());
  for (std::uint64_t number = 0; number < 300; ++number) {
    REQUIRE(writer->publish(1, 0, number, pattern(number, number * 37 % 500)).has_value());
    const auto payload = reader.peek()->payload;
    reader.advance();
    if (number % 8 != 7 || payload.size() <= inline_payload_max) continue;
    Reservation again;
    REQUIRE(writer->reserve_again(payload, again).has_value());
    writer->commit(std::move(again), 1, 0, number);
    REQUIRE(reader.peek().has_value());
    reader.advance();
  }
  auto journal = Journal::open(*arena, journal_key);
  for (std::uint32_t number = 1; number < 600; ++number) REQUIRE(journal->append({number, 0, 0}).has_value());
}

/// Reads everything there is, and every byte of it; returns the records.
std::uint64_t read_all(const PeerArena& peer) {
  std::uint64_t records = 0, sum = 0;
  for (std::uint32_t index = 0; index < peer.log_count(); ++index) {
    LogReader reader = LogReader::open(peer, index);
    for (auto record = reader.peek(); record; record = reader.peek()) {
      for (std::byte byte : record->payload) sum += static_cast<std::uint64_t>(byte);
      for (std::byte byte : record->extra) sum += static_cast<std::uint64_t>(byte);
      reader.advance();
      REQUIRE(++records < 100000);
    }
    if (reader.failed()) CHECK(reader.error().code() == Errc::closed);
  }
  CutReader journal(peer, journal_key);
  for (std::uint64_t cut = 1; cut < 4; ++cut)
    if (const auto piece = journal.read(cut)) sum += piece->entries.size();
  for (std::uint32_t index = 0; index < peer.cursor_count(); ++index)
    sum += peer.cursor(index).consumed.load();
  for (std::uint32_t index = 0; index < peer.endpoint_count(); ++index)
    sum += peer.endpoint(index).alive.load();
  return records + (sum == 1);
}

TEST_CASE("malformed: whatever bytes a peer's arena has, reading it ends and harms nobody", "[log]") {
  Memory original(arena_bytes);
  write_some(original);
  const std::uint64_t used = reinterpret_cast<ArenaHeader*>(original.bytes().data())->pool +
                             reinterpret_cast<ArenaHeader*>(original.bytes().data())->pool_used.load();
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    auto copy = original.copy();
    for (auto hits = 1 + random.below(200); hits > 0; --hits) {
      const auto at = random.below(used / 8) * 8;
      const std::uint64_t choices[] = {
          random.next(),     random.below(arena_bytes), random.below(64) * 64, ~0ull, 0,
          random.below(256), 1ull << random.below(64)};
      const std::uint64_t value = choices[random.below(std::size(choices))];
      std::memcpy(copy->bytes().data() + at, &value, 1 + random.below(8));
    }
    const std::uint64_t magic = arena_magic;
    if (random.chance(7, 8)) std::memcpy(copy->bytes().data(), &magic, 8);
    read_all({copy->bytes().data(), copy->bytes().size()});
    // Its successor, too, either refuses it or reads it.
    if (auto adopted = ArenaWriter::adopt(copy->bytes(), small_arena()); adopted) {
      auto log = LogWriter::open(**adopted, key, {.retention = Retention::keep_all});
      auto journal = Journal::open(**adopted, journal_key);
      while (journal && journal->read_next()) {
      }
    }
  }
}

TEST_CASE("malformed: a payload that is repeated from where none can be stops the reader, and adoption",
          "[log]") {
  Memory memory(arena_bytes);
  write_some(memory);
  const PeerArena peer{memory.bytes().data(), memory.bytes().size()};
  const auto first = peer.log(0).first_chunk.load();
  auto* cell = reinterpret_cast<Cell*>(memory.bytes().data() + first + sizeof(ChunkHeader));
  const std::uint64_t end = peer.header().pool + peer.header().pool_used.load();
  const std::uint64_t places[][2] = {
      {0, 64}, {peer.header().pool - 64, 64}, {end - 64, 65}, {end, 1}, {arena_bytes, 64}, {first, ~0ull}};
  for (const auto& place : places) {
    cell->inline_size = payload_repeated;
    std::memcpy(cell->payload, place, sizeof(place));
    LogReader reader = LogReader::open(peer, 0);
    CHECK_FALSE(reader.peek().has_value());
    CHECK(reader.failed());
    const auto adopted = ArenaWriter::adopt(memory.copy()->bytes(), small_arena());
    REQUIRE_FALSE(adopted.has_value());
    CHECK(adopted.error().code() == Errc::parse_error);
  }
}

TEST_CASE(
    "malformed: a payload that lies elsewhere, of no record or no bytes, stops the reader, and adoption",
    "[log]") {
  Memory memory(arena_bytes);
  write_some(memory);
  const PeerArena peer{memory.bytes().data(), memory.bytes().size()};
  const auto first = peer.log(0).first_chunk.load();
  auto* cell = reinterpret_cast<Cell*>(memory.bytes().data() + first + sizeof(ChunkHeader));
  for (const AbsentPayload& absent : {AbsentPayload{0, 64}, AbsentPayload{1, 0}}) {
    cell->inline_size = payload_absent;
    std::memcpy(cell->payload, &absent, sizeof(absent));
    LogReader reader = LogReader::open(peer, 0);
    CHECK_FALSE(reader.peek().has_value());
    CHECK(reader.failed());
    CHECK_FALSE(ArenaWriter::adopt(memory.copy()->bytes(), small_arena()).has_value());
  }
}

TEST_CASE("malformed: a link to its own chunk stops the reader with a reason", "[log]") {
  Memory memory(arena_bytes);
  write_some(memory);
  PeerArena peer{memory.bytes().data(), memory.bytes().size()};
  const auto first = peer.log(0).first_chunk.load();
  auto* cell = reinterpret_cast<Cell*>(memory.bytes().data() + first + sizeof(ChunkHeader));
  const LinkPayload link{first, 1};
  cell->kind = kind_link;
  std::memcpy(cell->payload, &link, 12);
  LogReader reader = LogReader::open(peer, 0);
  CHECK_FALSE(reader.peek().has_value());
  CHECK(reader.failed());
  CHECK(reader.error().code() == Errc::closed);
}

}  // namespace
}  // namespace llamada::log
