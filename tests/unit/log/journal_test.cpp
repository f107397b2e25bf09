#include "llamada/log/journal.hpp"

#include <algorithm>

#include "arena_fixture.hpp"

namespace llamada::log {
namespace {

constexpr LogKey key{1, 2};

TEST_CASE("journal: a successor reads all entries and goes on appending", "[log]") {
  Memory memory(16 << 20);
  auto arena = make_arena(memory);
  auto journal = Journal::open(*arena, key);
  REQUIRE(journal.has_value());
  std::uint32_t total = 0;
  for (std::uint32_t stop : {1u, 186u, 187u, 188u, 251u, 252u, 253u, 20000u}) {
    for (; total < stop; ++total)
      REQUIRE(journal->append({total % 1000 + 1, total, total * 3ull}).has_value());
    auto copy = memory.copy();
    auto successor = make_arena(*copy);
    auto adopted = Journal::open(*successor, key);
    REQUIRE(adopted.has_value());
    REQUIRE(adopted->adopted_size() == total);
    REQUIRE(adopted->last() == JournalEntry{(total - 1) % 1000 + 1, total - 1, (total - 1) * 3ull});
    REQUIRE(adopted->append({9, 9, 9}).has_value());
    for (std::uint32_t i = 0; i < total; ++i)
      REQUIRE(adopted->read_next() == JournalEntry{i % 1000 + 1, i, i * 3ull});
    REQUIRE(adopted->read_next() == JournalEntry{9, 9, 9});
    REQUIRE_FALSE(adopted->read_next().has_value());
  }
  CHECK(Journal::open(*arena, key).error().code() == Errc::invalid_argument);
}

TEST_CASE("journal: the last entry is changed in place", "[log]") {
  Memory memory(16 << 20);
  auto arena = make_arena(memory);
  auto journal = Journal::open(*arena, key);
  REQUIRE(journal->append({5, 1, 0}).has_value());
  journal->set_last_count(2);
  journal->set_last_value(77);
  CHECK(journal->last() == JournalEntry{5, 2, 77});
  auto successor = make_arena(*memory.copy());
  CHECK(journal->append({0, 0, 0}).error().code() == Errc::invalid_argument);
  CHECK(journal->append({0xffffffff, 0, 0}).error().code() == Errc::invalid_argument);
}

/// What a successor reads now.
std::vector<std::uint64_t> values_in(const Memory& memory) {
  auto copy = memory.copy();
  auto arena = make_arena(*copy);
  auto journal = Journal::open(*arena, key);
  REQUIRE(journal.has_value());
  std::vector<std::uint64_t> values;
  while (const auto entry = journal->read_next()) values.push_back(entry->value);
  CHECK(values.size() == journal->size());
  return values;
}

TEST_CASE("journal: what lies between two chunks is given back, and its memory used again", "[log]") {
  Memory memory(16 << 20);
  auto arena = make_arena(memory);
  auto journal = Journal::open(*arena, key);
  std::uint64_t next = 0;
  const auto append = [&](int count) {
    for (; count > 0; --count) REQUIRE(journal->append({1, 0, next++}).has_value());
  };
  append(10);
  const std::uint64_t first = journal->last_chunk();
  CHECK(first == 0);
  std::uint64_t live_most = 0;
  for (int interval = 0; interval < 50; ++interval) {
    append(20000);
    const std::uint64_t passed = next - 1, last = journal->last_chunk();
    append(100 * interval);
    journal->give_back(first, last);
    if (interval == 5) live_most = arena->pool_used();
    CHECK_FALSE(journal->read_next().has_value());
    const auto values = values_in(memory);
    REQUIRE(values.size() == journal->size());
    CHECK(std::ranges::is_sorted(values));
    for (std::uint64_t value = 0; value < 10; ++value) REQUIRE(values[value] == value);
    // None is missing behind the last place, and few are left before it.
    const auto found = std::ranges::find(values, passed);
    REQUIRE(static_cast<std::uint64_t>(values.end() - found) == next - passed);
    CHECK(found - values.begin() < 5000);
  }
  CHECK(arena->pool_used() < live_most + (200 << 10));
  // The same once more changes nothing.
  const auto before = values_in(memory);
  journal->give_back(first, journal->last_chunk());
  journal->give_back(first, journal->last_chunk());
  journal->give_back(first, first);
  CHECK(values_in(memory).back() == before.back());
}

TEST_CASE("journal: a successor finds the places of entries, and gives back what its predecessor recorded",
          "[log]") {
  Memory memory(16 << 20);
  const auto fill = [](Journal& journal) {
    for (int count = 0; count < 30000; ++count) REQUIRE(journal.append({1, 0, 7}).has_value());
  };
  auto arena = make_arena(memory);
  auto journal = Journal::open(*arena, key);
  REQUIRE(journal->append({2, 0, 0}).has_value());
  fill(*journal);
  REQUIRE(journal->append({2, 0, 1}).has_value());
  const std::uint64_t place = journal->last_chunk();
  journal->give_back(0, place);
  const std::uint64_t live = arena->pool_live();
  for (int life = 0; life < 3; ++life) {
    auto copy = memory.copy();
    auto next_arena = make_arena(*copy);
    auto next = Journal::open(*next_arena, key);
    std::vector<std::uint64_t> places;
    while (const auto entry = next->read_next())
      if (entry->head == 2) places.push_back(next->read_chunk());
    CHECK(places == std::vector<std::uint64_t>{0, place});
    CHECK(next->last_chunk() == place);
    fill(*next);
    next->give_back(places.front(), next->last_chunk());
    CHECK(next_arena->pool_live() <= live);
  }
}

}  // namespace
}  // namespace llamada::log
