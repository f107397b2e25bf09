#include <unistd.h>

#include "../log/arena_fixture.hpp"
#include "llamada/base/random.hpp"
#include "llamada/log/journal.hpp"
#include "llamada/topics/observe.hpp"

// A wild pointer of an arena's owner writes over the arena: readers in other processes find that, and a place
// behind the end of the file is no SIGBUS for them. (A file in a test: its mapping is longer, as llamaNET's.)

namespace llamada::topics {
namespace {

using namespace log;

constexpr LogKey key{7, 9};
constexpr LogKey journal_key{7, 10};
constexpr std::size_t arena_bytes = 64 << 20;
constexpr std::size_t page_bytes = 4096;

/// The first bytes of an arena in a file that ends there.
class ShortFile {
 public:
  ShortFile(std::span<const std::byte> content, std::size_t file_bytes)
      : file_(::memfd_create("llamada-test", MFD_CLOEXEC)) {
    REQUIRE(file_ >= 0);
    REQUIRE(::pwrite(file_, content.data(), file_bytes, 0) == static_cast<ssize_t>(file_bytes));
    void* mapped = ::mmap(nullptr, arena_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    REQUIRE(mapped != MAP_FAILED);
    base_ = static_cast<std::byte*>(mapped);
  }
  ShortFile(const ShortFile&) = delete;
  ShortFile& operator=(const ShortFile&) = delete;
  ~ShortFile() {
    ::munmap(base_, arena_bytes);
    ::close(file_);
  }
  std::byte* base() const { return base_; }
  PeerArena peer() const { return {base_, arena_bytes}; }
  void lengthen(std::size_t bytes) { REQUIRE(::ftruncate(file_, static_cast<off_t>(bytes)) == 0); }

 private:
  int file_;
  std::byte* base_;
};

/// An arena with a log of records of all lengths, some of which repeat others' payloads, a cursor, an
/// endpoint and a journal.
struct Filled {
  Filled() : arena(make_arena(memory)) {
    auto made = LogWriter::create(*arena, key, {.retention = Retention::keep_all});
    REQUIRE(made.has_value());
    writer = std::move(*made);
    for (std::uint64_t number = 0; number < 300; ++number) publish(number, number * 37 % 500);
    publish(300, 100'000);
    REQUIRE(arena->add_cursor(key, 1, 0).has_value());
    REQUIRE(arena->add_endpoint({.topic = "ranks", .type = "MPI", .qos = "RELIABLE"}).has_value());
    auto journal = Journal::open(*arena, journal_key);
    for (std::uint32_t number = 1; number < 600; ++number)
      REQUIRE(journal->append({number, 0, 0}).has_value());
  }
  void publish(std::uint64_t number, std::size_t size) {
    REQUIRE(writer.publish(1, 0, number, pattern(number, size)).has_value());
  }
  std::size_t used() const { return arena->pool() + arena->pool_used(); }
  std::size_t file_bytes() const { return (used() + page_bytes - 1) / page_bytes * page_bytes; }

  Memory memory{arena_bytes};
  std::unique_ptr<ArenaWriter> arena;
  LogWriter writer;
};

/// Reads all that a peer reads of an arena, every byte of it; the records.
std::uint64_t read_all(const PeerArena& peer) {
  std::uint64_t records = 0, sum = 0;
  const auto add = [&](std::span<const std::byte> bytes) {
    for (std::byte byte : bytes) sum += static_cast<std::uint64_t>(byte);
  };
  for (std::uint32_t index = 0; index < peer.log_count(); ++index) {
    LogReader reader = LogReader::open(peer, index);
    for (auto record = reader.peek(); record; record = reader.peek()) {
      add(record->payload);
      add(record->extra);
      reader.advance();
      REQUIRE(++records < 1'000'000);
    }
    if (const auto announced = reader.peek_announced())
      add(announced->payload.first(reader.announced_bytes(*announced)));
    LogReader again = LogReader::open(peer, index);
    while (again.peek()) {
      LogReader::Run run(again);
      std::uint64_t in_run = 0;
      for (auto message = run.peek(); message; message = run.peek(), ++in_run) {
        add({message->payload, message->size_bytes});
        run.advance();
      }
      run.finish();
      if (in_run == 0) again.advance();
    }
  }
  for (std::uint32_t index = 0; index < peer.cursor_count(); ++index) sum += peer.cursor(index).consumed;
  std::uint32_t scanned = 0;
  if (const auto* cursor = find_cursor(peer, key, 1, scanned)) sum += cursor->consumed;
  (void)observe(peer, 1, 0);
  return records + (sum == 1);
}

TEST_CASE("damage: whatever bytes an arena has, its readers touch nothing behind the end of its file",
          "[topics]") {
  Filled original;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    const ShortFile file(original.memory.bytes(), original.file_bytes());
    for (auto hits = 1 + random.below(100); hits > 0; --hits) {
      const bool early = random.chance(1, 3);
      const auto at = random.below((early ? sizeof(ArenaHeader) / 4 : original.used()) / 8) * 8;
      const std::uint64_t choices[] = {original.file_bytes() + random.below(arena_bytes / 64) * 64,
                                       arena_bytes - random.below(100) * 64,
                                       random.below(original.used() / 64) * 64,
                                       random.next(),
                                       random.below(256),
                                       1ull << random.below(64),
                                       ~0ull,
                                       0};
      const std::uint64_t value = choices[random.below(std::size(choices))];
      std::memcpy(file.base() + at, &value, random.chance(1, 2) ? 8 : 4);
    }
    const std::uint64_t magic = arena_magic;
    if (random.chance(7, 8)) std::memcpy(file.base(), &magic, sizeof(magic));
    read_all(file.peer());
  }
}

TEST_CASE("damage: a successor refuses what is damaged, and touches nothing behind the arena", "[topics]") {
  Filled original;
  const std::size_t words = original.used() / 8;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    auto copy = original.memory.copy();
    for (auto hits = 1 + random.below(20); hits > 0; --hits) {
      const std::uint64_t value = random.chance(1, 2) ? random.below(arena_bytes / 64) * 64 : random.next();
      std::memcpy(copy->bytes().data() + random.below(words) * 8, &value, sizeof(value));
    }
    if (auto adopted = ArenaWriter::open(copy->bytes(), small_arena()); adopted) {
      CHECK((*adopted)->find_damage().empty());
      auto log = LogWriter::open(**adopted, key, {.retention = Retention::keep_all});
      if (log) CHECK(log->publish(1, 0, 0, pattern(0, 100)).has_value());
    } else {
      CHECK(adopted.error().code() == Errc::parse_error);
    }
  }
}

TEST_CASE("damage: a header that was one is never made anew", "[topics]") {
  Filled original;
  for (const std::uint64_t magic : {std::uint64_t{0}, ~std::uint64_t{0}, arena_magic ^ 1}) {
    auto copy = original.memory.copy();
    std::memcpy(copy->bytes().data(), &magic, sizeof(magic));
    const auto opened = ArenaWriter::open(copy->bytes(), small_arena());
    REQUIRE_FALSE(opened.has_value());
    CHECK(opened.error().code() == Errc::parse_error);
    CHECK((PeerArena{copy->bytes().data(), arena_bytes}.is_damaged() == (magic != 0)));
  }
}

TEST_CASE("damage: a reader stops at a record or a link that leads behind the end of the file", "[topics]") {
  Filled original;
  ShortFile file(original.memory.bytes(), original.file_bytes());
  const PeerArena peer = file.peer();
  const Offset first = peer.log(0).first_chunk;
  auto* const header = reinterpret_cast<ChunkHeader*>(file.base() + first);
  auto* const cell = reinterpret_cast<Cell*>(file.base() + first + sizeof(ChunkHeader));
  const Offset behind = original.file_bytes() + 64;
  SECTION("a payload, in a chunk that seems to be longer than the file") {
    header->payload_bytes = arena_bytes / 2;
    cell->inline_size = payload_apart;
    const std::uint64_t place[] = {behind, 64};
    std::memcpy(cell->payload, place, sizeof(place));
  }
  SECTION("a payload that begins within the file") {
    header->payload_bytes = arena_bytes / 2;
    cell->inline_size = payload_apart;
    const std::uint64_t place[] = {original.file_bytes() - 64, 128};
    std::memcpy(cell->payload, place, sizeof(place));
  }
  SECTION("a repeated payload, in a pool that seems to be longer than the file") {
    reinterpret_cast<ArenaHeader*>(file.base())->pool_used = arena_bytes / 2;
    cell->inline_size = payload_repeated;
    const std::uint64_t place[] = {behind, 64};
    std::memcpy(cell->payload, place, sizeof(place));
  }
  SECTION("a link") {
    cell->kind = kind_link;
    const LinkPayload link{behind, 1};
    std::memcpy(cell->payload, &link, 12);
  }
  SECTION("more cells than the file has room for") { header->cell_count = 1 << 19; }
  SECTION("the first chunk") { const_cast<LogEntry&>(peer.log(0)).first_chunk = behind; }
  LogReader reader = LogReader::open(peer, 0);
  CHECK_FALSE(reader.peek().has_value());
  REQUIRE(reader.failed());
  CHECK(reader.error().code() == Errc::closed);
}

TEST_CASE("damage: a file that has grown since it was mapped is read to its new end", "[topics]") {
  Filled original;
  const std::size_t before = original.file_bytes();
  ShortFile file(original.memory.bytes(), before);
  const PeerArena peer = file.peer();
  CHECK(peer.covers(before - 8, 8));
  CHECK_FALSE(peer.covers(before - 8, 9));
  CHECK_FALSE(peer.covers(before, 1));
  CHECK_FALSE(peer.covers(arena_bytes - 1, 2));
  CHECK_FALSE(peer.covers(8, ~std::uint64_t{0} - 4));
  file.lengthen(before + page_bytes);
  CHECK(peer.covers(before, page_bytes));
  CHECK(peer.known_bytes == before + page_bytes);
  CHECK_FALSE(peer.covers(before + page_bytes, 1));
}

TEST_CASE("damage: an owner finds what was written over its header and over its chunks", "[topics]") {
  Filled filled;
  CHECK(filled.arena->find_damage().empty());
  const auto finds = [&](Offset at, std::size_t size) {
    const std::uint64_t value = 0x7fff'ffff'1234'5678;
    std::byte before[8];
    std::byte* const place = filled.memory.bytes().data() + at;
    std::memcpy(before, place, size);
    std::memcpy(place, &value, size);
    const bool found = !filled.arena->find_damage().empty();
    std::memcpy(place, before, size);
    return found;
  };
  for (const auto at :
       {offsetof(ArenaHeader, magic), offsetof(ArenaHeader, size_bytes), offsetof(ArenaHeader, pool),
        offsetof(ArenaHeader, log_directory), offsetof(ArenaHeader, pool_used)})
    CHECK(finds(at, 8));
  for (const auto at : {offsetof(ArenaHeader, version), offsetof(ArenaHeader, log_count),
                        offsetof(ArenaHeader, cursor_count), offsetof(ArenaHeader, endpoint_count),
                        offsetof(ArenaHeader, match_count), offsetof(ArenaHeader, grant_count)})
    CHECK(finds(at, 4));
  const Offset first = filled.arena->reading().log(0).first_chunk;
  CHECK(finds(first + offsetof(ChunkHeader, cell_count), 4));
  CHECK(finds(first + offsetof(ChunkHeader, payload_bytes), 8));
  CHECK(filled.arena->find_damage().empty());

  // What it goes by is not what lies there.
  auto& header = filled.arena->header();
  header.pool_used.store(64);
  header.log_count.store(0);
  header.pool = 64;
  filled.publish(301, 300'000);
  CHECK(header.pool_used.load() == filled.arena->pool_used());
  REQUIRE(filled.arena->add_log({1, 1}, 0, 0).has_value());
  CHECK(header.log_count.load() == 3);
}

TEST_CASE("damage: the owner of an arena finds what it has written over", "[topics]") {
  Filled filled;
  const auto found = [&] {
    // Some thousand records at a look.
    for (int look = 0; look < 3; ++look)
      if (std::string why = filled.arena->find_damage(); !why.empty()) return why;
    return std::string();
  };
  REQUIRE(found().empty());
  LogEntry& entry = filled.arena->log(0);
  CursorEntry& cursor = const_cast<CursorEntry&>(filled.arena->reading().cursor(0));
  const auto read_at = [&](Offset offset) { return *read_chunk(filled.arena->reading(), offset); };
  const Chunk first = read_at(entry.first_chunk);
  auto* const cells = reinterpret_cast<Cell*>(filled.memory.bytes().data() + first.cells());
  const auto find_cell = [&](auto fits) -> Cell& {
    for (std::uint32_t cell = 0; cell < first.cell_count; ++cell)
      if (fits(cells[cell])) return cells[cell];
    FAIL("there is no such cell");
    return cells[0];
  };
  SECTION("the header") { filled.arena->header().log_directory += 64; }
  SECTION("the key of a log") { entry.key_low ^= 1; }
  SECTION("the key of a cursor") { cursor.key_high ^= 1; }
  SECTION("whose log a cursor is for") { ++cursor.writer; }
  SECTION("a log's first chunk") { entry.first_chunk = first.offset + 64; }
  SECTION("that a log has a first chunk") { entry.first_chunk = 0; }
  SECTION("how much has been published") { entry.published = 7; }
  SECTION("a chunk's generation") {
    reinterpret_cast<ChunkHeader*>(filled.memory.bytes().data() + first.offset)->generation = 99;
  }
  SECTION("a commit") { cells[1].commit = 99; }
  SECTION("where a record's payload lies") {
    Cell& cell = find_cell([](const Cell& each) { return each.inline_size == payload_apart; });
    const Offset elsewhere = first.end() + 64;
    std::memcpy(cell.payload, &elsewhere, sizeof(elsewhere));
  }
  SECTION("a link") {
    Cell& cell = find_cell([](const Cell& each) { return each.kind == kind_link; });
    std::memcpy(cell.payload, &first.offset, sizeof(first.offset));
  }
  CHECK(found().size() > 10);
}

TEST_CASE("damage: an owner finds none in logs that are written, recycled and discarded between its looks",
          "[topics]") {
  Memory memory(arena_bytes), own_memory(arena_bytes);
  auto arena = make_arena(memory), own = make_arena(own_memory);
  Random random(1);
  for (std::uint64_t life = 1; life <= 30; ++life) {
    auto writer = LogWriter::create(*arena, {1, life}, {.live_bytes_max = 16 << 20});
    auto cursor = own->cursor({1, life}, 0);
    REQUIRE((writer.has_value() && cursor.has_value()));
    writer->add_reader(*cursor);
    LogReader reader = LogReader::open(arena->reading(), writer->index(), *cursor);
    std::uint64_t number = 0;
    for (int round = 0; round < 20; ++round) {
      for (auto more = random.below(3000); more > 0; --more, ++number)
        REQUIRE(writer->publish(1, 0, number, pattern(number, random.below(100))).has_value());
      REQUIRE(arena->find_damage() == "");
      for (auto taken = random.below(6000); taken > 0 && reader.peek(); --taken) reader.advance();
      reader.release(reader.position_chunk());
      REQUIRE(arena->find_damage() == "");
    }
    own->remove_cursor(*cursor);
    writer->discard();
    REQUIRE(arena->find_damage() == "");
  }
}

TEST_CASE("damage: a successor finds that records are missing", "[topics]") {
  Filled filled;
  filled.arena->log(0).published -= 5;
  auto adopted = ArenaWriter::open(filled.memory.bytes(), small_arena());
  REQUIRE_FALSE(adopted);
  CHECK(adopted.error().code() == Errc::parse_error);
}

TEST_CASE("damage: a header whose places cannot be is none, whatever its first word says", "[topics]") {
  Memory memory(arena_bytes);
  auto arena = make_arena(memory);
  CHECK_FALSE(arena->reading().is_damaged());
  SECTION("a directory") { arena->header().cursor_directory = 4096; }
  SECTION("a count") { arena->header().log_count = arena->header().log_count_max + 1; }
  SECTION("room for fewer") { arena->header().log_count_max = 1; }
  SECTION("the pool") { arena->header().pool += 64; }
  CHECK(arena->reading().is_damaged());
}

TEST_CASE("damage: a reader finds that its own cursor has changed", "[topics]") {
  Memory memory(arena_bytes), own_memory(arena_bytes);
  auto arena = make_arena(memory), own = make_arena(own_memory);
  auto writer = LogWriter::create(*arena, key, {});
  auto cursor = own->add_cursor(key, 0, 0);
  REQUIRE((writer.has_value() && cursor.has_value()));
  LogReader reader = LogReader::open(arena->reading(), 0, *cursor);
  CHECK_FALSE(reader.is_cursor_damaged());
  reader.release(3);
  CHECK_FALSE(reader.is_cursor_damaged());
  (*cursor)->consumed = 2;
  CHECK(reader.is_cursor_damaged());
  // A copy of the process finds what the original has stored since, and never goes back.
  reader.take_over_cursor();
  CHECK_FALSE(reader.is_cursor_damaged());
  reader.release(1);
  CHECK((*cursor)->consumed == 2);
}

TEST_CASE("damage: a reader that has waited long finds why it waits in vain", "[topics]") {
  Memory memory(arena_bytes), own_memory(arena_bytes);
  auto arena = make_arena(memory), own = make_arena(own_memory);
  auto writer = LogWriter::create(*arena, key, {});
  auto cursor = own->add_cursor(key, 0, 0);
  REQUIRE((writer.has_value() && cursor.has_value()));
  const auto publish = [&](std::uint64_t number) {
    REQUIRE(writer->publish(1, 0, number, pattern(number, 8)).has_value());
  };
  for (std::uint64_t number = 0; number < 3; ++number) publish(number);
  LogReader reader = LogReader::open(arena->reading(), 0, *cursor);
  for (int taken = 0; taken < 3; ++taken) {
    REQUIRE(reader.peek().has_value());
    reader.advance();
  }
  const Offset first = arena->log(0).first_chunk;
  auto* const header = reinterpret_cast<ChunkHeader*>(memory.bytes().data() + first);
  auto* const cells = reinterpret_cast<Cell*>(header + 1);
  REQUIRE(reader.find_damage() == nullptr);
  REQUIRE(reader.find_damage() == nullptr);

  SECTION("nothing is wrong while nothing comes, nor with a record that was withdrawn") {
    {
      auto room = writer->reserve(100);
      REQUIRE(room.has_value());
      writer->announce(*room, 1, 0, 3);
      CHECK(reader.find_damage() == nullptr);
      CHECK(reader.find_damage() == nullptr);
    }
    CHECK_FALSE(reader.peek().has_value());
    CHECK(reader.find_damage() == nullptr);
    CHECK(reader.find_damage() == nullptr);
    return;
  }
  SECTION("the commit of a record") {
    publish(3);
    cells[3].commit = 0x12345678;
  }
  SECTION("a record that was never published") {
    for (int bogus = 0; bogus < 2; ++bogus) {
      cells[3 + bogus].kind = 1;
      cells[3 + bogus].commit = header->generation.load();
      REQUIRE(reader.peek().has_value());
      reader.advance();
    }
  }
  SECTION("the header of its chunk") { header->generation = 77; }
  SECTION("the arena's header") { arena->header().magic = 77; }
  CHECK(reader.find_damage() == nullptr);  // not at the first look
  const char* const why = reader.find_damage();
  REQUIRE(why != nullptr);
  CHECK(std::string(why).size() > 10);
}

}  // namespace
}  // namespace llamada::topics
