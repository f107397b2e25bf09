#include "llamada/base/agreement_table.hpp"

#include <random>

#include "test.hpp"

using namespace llamada;

namespace {

AgreementVote vote_of(std::vector<std::uint32_t> members, std::uint32_t sequence, std::uint32_t flags,
                      std::vector<std::uint32_t> known_lost = {}) {
  return {.group = 7,
          .sequence = sequence,
          .flags = flags,
          .members = std::move(members),
          .known_lost = std::move(known_lost)};
}

}  // namespace

TEST_CASE("agreement: is decided when all members have voted, the same for all", "[base]") {
  AgreementTable table;
  const std::vector<std::uint32_t> members{3, 4, 5};
  CHECK_FALSE(table.vote(3, vote_of(members, 1, 0b1110)));
  CHECK_FALSE(table.vote(4, vote_of(members, 1, 0b0111)));
  CHECK(table.decision_count() == 0);
  const auto decision = table.vote(5, vote_of(members, 1, 0b1111));
  REQUIRE(decision);
  CHECK(decision->flags == 0b0110);
  CHECK(decision->lost.empty());
  CHECK(decision->all_knew);
  CHECK(table.decision_count() == 1);
  CHECK(table.vote(3, vote_of(members, 1, 0b1110)) == decision);
  CHECK(table.open_count() == 1);
  CHECK(table.vote(4, vote_of(members, 1, 0b0111)) == decision);
  CHECK(table.open_count() == 0);
}

TEST_CASE("agreement: a question asked again counts once", "[base]") {
  AgreementTable table;
  const std::vector<std::uint32_t> members{0, 1};
  CHECK_FALSE(table.vote(0, vote_of(members, 1, 1)));
  CHECK_FALSE(table.vote(0, vote_of(members, 1, 1)));
  CHECK(table.vote(1, vote_of(members, 1, 1)));
}

TEST_CASE("agreement: a death decides what waited for it, and who voted still counts", "[base]") {
  AgreementTable table;
  const std::vector<std::uint32_t> members{0, 1, 2};
  CHECK_FALSE(table.vote(0, vote_of(members, 1, 0b011)));
  CHECK_FALSE(table.vote(1, vote_of(members, 1, 0b110)));
  table.end_member(1);
  CHECK(table.decision_count() == 0);
  table.end_member(2);
  CHECK(table.decision_count() == 1);
  const auto decision = table.vote(0, vote_of(members, 1, 0b011));
  REQUIRE(decision);
  CHECK(decision->flags == 0b010);
  CHECK(decision->lost == std::vector<std::uint32_t>{1, 2});
  CHECK_FALSE(decision->all_knew);
  CHECK(table.open_count() == 0);
}

TEST_CASE("agreement: a decision does not change by a death after it", "[base]") {
  AgreementTable table;
  const std::vector<std::uint32_t> members{0, 1, 2};
  CHECK_FALSE(table.vote(0, vote_of(members, 1, 1)));
  CHECK_FALSE(table.vote(1, vote_of(members, 1, 1)));
  const auto decision = table.vote(2, vote_of(members, 1, 1));
  REQUIRE(decision);
  table.end_member(2);
  CHECK(table.vote(0, vote_of(members, 1, 1)) == decision);
  CHECK(table.vote(1, vote_of(members, 1, 1)) == decision);
  CHECK(table.open_count() == 0);
}

TEST_CASE("agreement: all knew of a loss when each who voted had been told", "[base]") {
  AgreementTable table;
  const std::vector<std::uint32_t> members{0, 1, 2};
  table.end_member(2);
  CHECK_FALSE(table.vote(0, vote_of(members, 1, 1, {2})));
  CHECK_FALSE(table.vote(1, vote_of(members, 1, 1))->all_knew);
  CHECK_FALSE(table.vote(0, vote_of(members, 2, 1, {2})));
  CHECK(table.vote(1, vote_of(members, 2, 1, {2}))->all_knew);
}

TEST_CASE("agreement: a common number needs all, of the others the highest counts", "[base]") {
  AgreementTable table;
  const auto vote = [](std::uint32_t sequence, std::uint32_t common, std::uint32_t own, std::uint32_t count) {
    return AgreementVote{1, sequence, 0, common, own, count, {0, 1}, {}};
  };
  CHECK_FALSE(table.vote(0, vote(1, 4, 100, 3)));
  auto decision = table.vote(1, vote(1, 6, 90, 5));
  REQUIRE(decision);
  CHECK(decision->common == 6);
  CHECK(decision->own == 100);
  CHECK(decision->count == 5);
  CHECK_FALSE(table.vote(0, vote(2, 4, 100, 3)));
  decision = table.vote(1, vote(2, 0, 101, 3));
  REQUIRE(decision);
  CHECK(decision->common == 0);
  CHECK(decision->own == 101);
}

TEST_CASE("agreement: groups of one name without common members are told apart", "[base]") {
  AgreementTable table;
  CHECK_FALSE(table.vote(0, vote_of({0, 1}, 1, 1)));
  CHECK_FALSE(table.vote(2, vote_of({2, 3}, 1, 2)));
  CHECK(table.vote(1, vote_of({0, 1}, 1, 1))->flags == 1);
  CHECK(table.vote(3, vote_of({2, 3}, 1, 2))->flags == 2);
}

TEST_CASE("agreement: a new process in a place that was lost has to vote", "[base]") {
  AgreementTable table;
  table.end_member(1);
  table.begin_member(1);
  CHECK_FALSE(table.vote(0, vote_of({0, 1}, 1, 1)));
  CHECK(table.vote(1, vote_of({0, 1}, 1, 1)));
}

TEST_CASE("agreement: whatever the order of votes and deaths, all that live have one answer", "[base]") {
  for (std::uint32_t seed = 1; seed <= 2000; ++seed) {
    std::mt19937 random(seed);
    const std::uint32_t size = 1 + random() % 6;
    constexpr std::uint32_t rounds = 4;
    AgreementTable table;
    std::vector<std::uint32_t> members;
    for (std::uint32_t member = 0; member < size; ++member) members.push_back(member);
    std::vector<bool> lives(size, true);
    std::vector<std::uint32_t> round(size, 1);
    std::vector<std::vector<AgreementDecision>> heard(size);
    for (std::uint32_t steps = 0; steps < 10'000; ++steps) {
      const std::uint32_t member = random() % size;
      if (!lives[member] || round[member] > rounds) continue;
      if (random() % 23 == 0) {
        lives[member] = false;
        table.end_member(member);
        continue;
      }
      const std::uint32_t flags = ~(1u << member << (round[member] % 3));
      if (auto decision = table.vote(member, vote_of(members, round[member], flags))) {
        heard[member].push_back(*decision);
        ++round[member];
      }
    }
    for (std::uint32_t member = 0; member < size; ++member) {
      if (lives[member]) CHECK(heard[member].size() == rounds);  // none hangs
      for (std::uint32_t other = 0; other < size; ++other)
        for (std::size_t i = 0; i < std::min(heard[member].size(), heard[other].size()); ++i)
          CHECK(heard[member][i] == heard[other][i]);
    }
    const bool any_lives = std::find(lives.begin(), lives.end(), true) != lives.end();
    if (any_lives) CHECK(table.open_count() == 0);
  }
}
