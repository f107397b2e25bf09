// What a driver puts into the journals of applications that resume, and how it begins cuts.
#include "llamada/log/cuts.hpp"
#include "node.hpp"

using namespace llamada;
using namespace llamada::llamanet;

namespace {

constexpr log::LogKey key{4, 0}, other_key{5, 0};
constexpr std::uint64_t token = 77;

std::vector<log::JournalEntry> entries_from(std::uint32_t first, std::uint32_t count) {
  std::vector<log::JournalEntry> entries;
  for (std::uint32_t number = first; number < first + count; ++number)
    entries.push_back({1 | number << 8, number, number * 3ULL});
  return entries;
}

std::vector<log::JournalEntry> read_all(log::Journal& journal) {
  std::vector<log::JournalEntry> entries;
  while (const auto entry = journal.read_next()) entries.push_back(*entry);
  return entries;
}

Result<std::unique_ptr<Application>> attach(const Node& node) {
  ApplicationOptions options;
  options.socket_name = node.socket_name();
  options.slot = 0;
  options.token = token;
  return Application::attach(options);
}

}  // namespace

TEST_CASE("driver: the first application in a slot finds the journals that were restored there",
          "[llamanet]") {
  Node node({}, 1);
  Driver& driver = node.driver();
  // Some chunks more than the file has at first.
  constexpr std::uint32_t count = 700'000;
  REQUIRE(driver.restore_journal(0, key, entries_from(0, count)));
  REQUIRE(driver.restore_journal(0, key, entries_from(count, 2)));
  REQUIRE(driver.restore_journal(0, other_key, entries_from(5, 1)));
  CHECK_FALSE(driver.view(0).is_damaged());
  CHECK(driver.view(0).pid() == 0);
  CHECK(driver.view(0).state() == log::ArenaState::none);
  driver.expect(0, token, 1);
  node.start();
  auto application = attach(node);
  REQUIRE(application);
  CHECK((*application)->incarnation() == 1);
  auto journal = log::Journal::open((*application)->arena(), key);
  REQUIRE(journal);
  CHECK(read_all(*journal) == entries_from(0, count + 2));
  auto other = log::Journal::open((*application)->arena(), other_key);
  REQUIRE(other);
  CHECK(read_all(*other) == entries_from(5, 1));
  node.stop();
  CHECK(driver.restore_journal(0, key, entries_from(0, 1)).error().code() == Errc::invalid_argument);
}

TEST_CASE("driver: nothing is restored in a slot without an arena, or that can be no entry", "[llamanet]") {
  Node node({}, 1);
  CHECK(node.driver().restore_journal(1, key, entries_from(0, 1)).error().code() == Errc::not_found);
  const log::JournalEntry none{};
  CHECK(node.driver().restore_journal(0, key, {&none, 1}).error().code() == Errc::invalid_argument);
}

TEST_CASE("driver: applications see which cut has begun, from the first on, if the job makes any",
          "[llamanet]") {
  const bool makes_cuts = GENERATE(false, true);
  DriverOptions options;
  options.makes_cuts = makes_cuts;
  Node node(options, 1);
  node.driver().expect(0, token, 1);
  node.start();
  auto application = attach(node);
  REQUIRE(application);
  const auto& cut = (*application)->roster().page().cut;
  CHECK(cut.load() == (makes_cuts ? 1 : 0));
  node.stop();
  if (makes_cuts) node.driver().begin_cut(7);
  CHECK(cut.load() == (makes_cuts ? 7 : 0));
}
