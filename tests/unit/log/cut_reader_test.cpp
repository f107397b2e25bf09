#include <thread>

#include "arena_fixture.hpp"
#include "llamada/log/cuts.hpp"

namespace llamada::log {
namespace {

constexpr LogKey key{4, 0};
using Entries = std::vector<JournalEntry>;

JournalEntry entry(std::uint32_t head) { return {head, 1, head * 3ull}; }
JournalEntry mark(std::uint64_t number) { return {cut_mark, 0, number}; }

struct Written {
  Memory memory{16 << 20};
  std::unique_ptr<ArenaWriter> arena = make_arena(memory);
  Journal journal = std::move(*Journal::open(*arena, key));

  PeerArena peer() { return {memory.bytes().data(), memory.bytes().size()}; }
  void append(const JournalEntry& entry) { REQUIRE(journal.append(entry).has_value()); }
  /// Entries with these heads.
  void append_all(std::initializer_list<std::uint32_t> heads) {
    for (const std::uint32_t head : heads) append(entry(head));
  }
};

CutReader::Piece read(CutReader& reader, std::uint64_t next_cut) {
  auto piece = reader.read(next_cut);
  REQUIRE(piece.has_value());
  return *piece;
}

/// What a store has after one piece more.
void store(Entries& stored, const CutReader::Piece& piece) {
  REQUIRE(piece.first <= stored.size());
  stored.resize(piece.first);
  stored.insert(stored.end(), piece.entries.begin(), piece.entries.end());
}

TEST_CASE("cut marks: one is due for each number, and none where no cuts are made", "[log]") {
  CHECK_FALSE(CutMarks().due());
  CHECK_FALSE(CutMarks(nullptr).due());
  std::atomic<std::uint64_t> cut{0};
  CutMarks marks(&cut);
  CHECK_FALSE(marks.due());
  cut = 1;
  CHECK(marks.due() == mark(1));
  CHECK_FALSE(marks.due());
  cut = 5;
  CHECK(marks.due() == mark(5));
  CHECK_FALSE(marks.due());
  CHECK(CutMarks(&cut).due() == mark(5));  // a successor begins with one
}

TEST_CASE("cut reader: a cut has what was recorded before its mark", "[log]") {
  Written written;
  CutReader reader(written.peer(), key);
  CHECK(read(reader, 1).entries.empty());
  written.append(mark(1));
  written.append_all({1, 2});
  CHECK(read(reader, 2).entries == Entries{entry(1), entry(2)});
  written.append_all({3});
  written.append(mark(2));
  written.append_all({4, 5});
  written.append(mark(4));  // nothing was recorded in the third
  written.append_all({6});
  const auto second = read(reader, 2);
  CHECK(second.first == 2);
  CHECK(second.entries == Entries{entry(3)});
  CHECK(read(reader, 2).entries.empty());
  const auto third = read(reader, 3);
  CHECK(third.first == 3);
  CHECK(third.entries == Entries{entry(4), entry(5)});
  CHECK(read(reader, 4).entries.empty());
  CHECK(read(reader, 5).entries == Entries{entry(6)});
}

TEST_CASE("cut reader: what was restored is not told, and counts", "[log]") {
  Written written;
  written.append_all({1, 2});
  CutReader reader(written.peer(), key, {2, 2});
  CHECK(read(reader, 2).entries.empty());
  written.append(mark(1));
  written.append_all({3});
  const auto piece = read(reader, 2);
  CHECK(piece.first == 2);
  CHECK(piece.entries == Entries{entry(3)});
}

TEST_CASE("cut reader: what was restored may have fewer entries than indices", "[log]") {
  Written written;
  written.append_all({1, 2, 50});
  CutReader reader(written.peer(), key, {3, 50});
  CHECK(read(reader, 2).entries.empty());
  written.append(mark(1));
  written.append_all({51});
  const auto piece = read(reader, 2);
  CHECK(piece.first == 50);
  CHECK(piece.entries == Entries{entry(51)});
}

TEST_CASE("cut reader: the owner gives back what was read, again and again", "[log]") {
  Written written;
  CutReader reader(written.peer(), key);
  const std::uint64_t first = written.journal.last_chunk();
  std::uint64_t told = 0;
  std::uint64_t number = 0;
  for (std::uint64_t cut = 2; cut < 40; ++cut) {
    for (int count = 0; count < 9000; ++count) written.append({1, 0, ++number});
    const std::uint64_t last = written.journal.last_chunk();
    // The last entries come before the mark, or behind it.
    if (cut % 3 == 0) written.append(mark(cut));
    for (int count = 0; count < 7000; ++count) written.append({1, 0, ++number});
    for (const std::uint64_t next : {cut, cut + 1}) {
      const auto piece = read(reader, next);
      if (piece.entries.empty()) continue;
      REQUIRE(piece.first == told);
      for (const JournalEntry& each : piece.entries) REQUIRE(each == JournalEntry{1, 0, ++told});
      written.journal.give_back(first, last);
    }
    REQUIRE(told == number);
  }
  CHECK(written.arena->pool_used() < 2 << 20);
}

TEST_CASE("cut reader: an entry that has changed in place is told again, as it is in the end", "[log]") {
  Written written;
  CutReader reader(written.peer(), key);
  written.append_all({1, 2});
  CHECK(read(reader, 2).entries.size() == 2);
  written.journal.set_last_count(7);
  SECTION("alone") {
    const auto piece = read(reader, 2);
    CHECK(piece.first == 1);
    CHECK(piece.entries == Entries{{2, 7, 6}});
    CHECK(read(reader, 2).entries.empty());
  }
  SECTION("before another one") {
    written.journal.set_last_value(8);
    written.append_all({3});
    written.journal.set_last_count(9);
    const auto piece = read(reader, 2);
    CHECK(piece.first == 1);
    CHECK(piece.entries == Entries{{2, 7, 8}, {3, 9, 9}});
  }
  SECTION("before a mark, behind which another one follows") {
    written.append(mark(2));
    written.append_all({3});
    const auto piece = read(reader, 2);
    CHECK(piece.first == 1);
    CHECK(piece.entries == Entries{{2, 7, 6}});
    CHECK(read(reader, 3).first == 2);
  }
}

TEST_CASE("cut reader: what an arena is not yet reads as nothing, and what is no journal as damaged",
          "[log]") {
  Memory memory(16 << 20);
  const PeerArena peer{memory.bytes().data(), memory.bytes().size()};
  CutReader reader(peer, key);
  CHECK(read(reader, 1).entries.empty());
  const auto arena = make_arena(memory);
  CHECK(read(reader, 1).entries.empty());
  SECTION("a journal that comes later") {
    auto journal = Journal::open(*arena, key);
    CHECK(read(reader, 1).entries.empty());
    REQUIRE(journal->append(entry(1)).has_value());
    CHECK(read(reader, 1).entries == Entries{entry(1)});
  }
  SECTION("a log") {
    REQUIRE(LogWriter::create(*arena, key, {}).has_value());
    CHECK(reader.read(1).error().code() == Errc::parse_error);
    CHECK(reader.read(1).error().code() == Errc::parse_error);
  }
}

TEST_CASE(
    "cut reader: entries of many chunks, which their owner changes meanwhile, are final but for the last",
    "[log]") {
  constexpr std::uint32_t entry_count = 20000;
  Written written;
  const auto changes_of = [](std::uint32_t number) { return number % 7; };
  std::atomic<std::uint64_t> cut{1};
  std::thread owner([&] {
    CutMarks marks(&cut);
    for (std::uint32_t number = 1; number <= entry_count; ++number) {
      if (const auto due = marks.due()) static_cast<void>(written.journal.append(*due));
      static_cast<void>(written.journal.append({1 | number << 8, 0, number}));
      for (std::uint32_t change = 1; change <= changes_of(number); ++change)
        written.journal.set_last_count(change);
    }
  });
  CutReader reader(written.peer(), key);
  Entries stored;
  std::uint64_t next_cut = 2;
  const auto is_final = [&](std::size_t index) {
    const auto number = static_cast<std::uint32_t>(index + 1);
    return stored[index] == JournalEntry{1 | number << 8, changes_of(number), number};
  };
  std::size_t looked_at = 0;
  while (stored.size() < entry_count || !is_final(entry_count - 1)) {
    cut = next_cut;
    store(stored, read(reader, next_cut++));
    for (; looked_at + 1 < stored.size(); ++looked_at) REQUIRE(is_final(looked_at));
  }
  owner.join();
  store(stored, read(reader, next_cut));
  CHECK(stored.size() == entry_count);
  CHECK(is_final(entry_count - 1));
}

}  // namespace
}  // namespace llamada::log
