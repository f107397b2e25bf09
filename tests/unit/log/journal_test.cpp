#include "llamada/log/journal.hpp"

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

}  // namespace
}  // namespace llamada::log
