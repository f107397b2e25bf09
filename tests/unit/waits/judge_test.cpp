#include "llamada/waits/judge.hpp"

#include <random>

#include "surveys.hpp"
#include "test.hpp"

// Who can never go on, by a table of cases and against all sets of ranks at random.

using namespace llamada::waits;
using namespace llamada::waits::test;

namespace {

using Stuck = std::vector<std::uint32_t>;

Stuck stuck_of(const Survey& all) { return judge(all, all).stuck; }

template <typename Change>
SurveyedRank with(SurveyedRank rank, Change change) {
  change(*rank.report);
  return rank;
}

}  // namespace

TEST_CASE("waits: ranks that receive from each other are a deadlock", "[waits]") {
  const Survey all = survey({waits({receive(1, 5)}), waits({receive(0, 7)})});
  const Verdict verdict = judge(all, all);
  CHECK(verdict.stuck == Stuck{0, 1});
  CHECK(verdict.chain == Stuck{0, 1});
  CHECK(verdict.is_cycle);
  CHECK(verdict.is_whole_job);
}

TEST_CASE("waits: a cycle while another rank computes is a deadlock of those in it", "[waits]") {
  const Survey all = survey({runs(), waits({send(2)}), waits({send(1)}), waits({receive(1)})});
  const Verdict verdict = judge(all, all);
  CHECK(verdict.stuck == Stuck{1, 2, 3});
  CHECK(verdict.chain == Stuck{1, 2});
  CHECK_FALSE(verdict.is_whole_job);
}

TEST_CASE("waits: who waits for itself, or for one that has ended, can never go on", "[waits]") {
  CHECK(stuck_of(survey({waits({receive(0)}), runs()})) == Stuck{0});
  const Survey all = survey({waits({receive(1)}), ended()});
  const Verdict verdict = judge(all, all);
  CHECK(verdict.stuck == Stuck{0});
  CHECK(verdict.chain == Stuck{0, 1});
  CHECK_FALSE(verdict.is_cycle);
}

TEST_CASE("waits: one of several suffices, or all are needed", "[waits]") {
  CHECK(stuck_of(survey({waits({receive(1), receive(2)}, true), waits({receive(0)}), runs()})).empty());
  CHECK(stuck_of(survey({waits({receive(1), receive(2)}), waits({receive(0)}), runs()})) == Stuck{0, 1});
  CHECK(stuck_of(survey({waits({receive(any_rank)}), waits({receive(0)}), runs()})).empty());
  CHECK(stuck_of(survey({waits({receive(any_rank)}), waits({receive(0)})})) == Stuck{0, 1});
}

TEST_CASE("waits: what is not known may happen", "[waits]") {
  const auto pair = [](SurveyedRank first) {
    return stuck_of(survey({std::move(first), waits({receive(0)})}));
  };
  REQUIRE(pair(waits({receive(1)})) == Stuck{0, 1});
  CHECK(pair(runs()).empty());
  CHECK(pair(waits({Awaited{}})).empty());
  CHECK(pair(waits({})).empty());
  CHECK(pair(with(waits({receive(1)}), [](Report& report) { report.is_under_way = true; })).empty());
  CHECK(pair(with(waits({receive(1)}), [](Report& report) { report.is_replaying = true; })).empty());
  CHECK(pair(with(waits({receive(1)}), [](Report& report) { report.has_other_threads = true; })).empty());
  // More were awaited than the report has room for.
  CHECK(pair(with(waits({receive(1)}, true), [](Report& report) { ++report.awaited_count; })).empty());
  CHECK(pair(with(waits({receive(1)}), [](Report& report) { ++report.awaited_count; })) == Stuck{0, 1});
  // A rank that the survey has not heard of.
  CHECK(stuck_of(survey({waits({receive(9)})})).empty());
}

TEST_CASE("waits: whoever has done something between two looks is not accused", "[waits]") {
  const Survey before = survey({waits({receive(1)}), waits({receive(0)})});
  Survey after = before;
  SECTION("it has sent or received") { ++after[1].report->activity; }
  SECTION("it is in another call") { ++after[1].report->call_index; }
  SECTION("it is another process") { ++after[1].report->incarnation; }
  SECTION("it did not answer") { after[1] = runs(); }
  SECTION("it has come since") { after.push_back(runs()), after[0].report->awaited[0].peer = 2; }
  CHECK(judge(before, after).stuck.empty());
}

TEST_CASE("waits: a collective waits for those who have not called it", "[waits]") {
  // Rank 0 is in a barrier, rank 1 receives from it first, and rank 2 computes.
  CHECK(stuck_of(survey({in_collective(collective("Barrier", 3)), waits({receive(0)}), runs()})) ==
        Stuck{0, 1});
  SECTION("rank 1 has called it already") {
    auto first = with(waits({receive(0)}), [](Report& report) { report.positions = {{1, 3, false}}; });
    CHECK(stuck_of(survey({in_collective(collective("Barrier", 3)), first, runs()})).empty());
    CHECK(stuck_of(survey({in_collective(collective("Barrier", 3)), first})) == Stuck{0, 1});
  }
  SECTION("rank 1 has called it, and it has not had its turn") {
    auto first = with(waits({receive(0)}), [](Report& report) { report.positions = {{1, 2, true}}; });
    CHECK(stuck_of(survey({in_collective(collective("Barrier", 3)), first, runs()})).empty());
  }
  SECTION("it is not known how far rank 1 has come") {
    auto first = with(waits({receive(0)}), [](Report& report) { report.has_all_positions = false; });
    CHECK(stuck_of(survey({in_collective(collective("Barrier", 3)), first, runs()})).empty());
  }
  SECTION("a member may give nothing") {
    CHECK(stuck_of(survey({in_collective(collective("Alltoall", 3)), waits({receive(0)}), runs()})).empty());
  }
}

TEST_CASE("waits: a broadcast waits for its root", "[waits]") {
  const auto all = [](std::int32_t root) {
    return stuck_of(survey({in_collective(collective("Bcast", 1, root)), waits({receive(0)}), runs()}));
  };
  CHECK(all(1) == Stuck{0, 1});
  CHECK(all(2).empty());
  // Different roots: each waits for the other.
  CHECK(stuck_of(survey({in_collective(collective("Bcast", 1, 1)),
                         in_collective(collective("Bcast", 1, 0))})) == Stuck{0, 1});
}

TEST_CASE("waits: collectives of two communicators in different order", "[waits]") {
  const Survey all = survey({in_collective(collective("Barrier", 2, any_rank, 1)),
                             in_collective(collective("Barrier", 1, any_rank, 2)), runs()});
  CHECK(judge(all, all).stuck == Stuck{0, 1});
}

TEST_CASE("waits: a chain leads to the rank for which everybody waits", "[waits]") {
  const Survey all = survey({waits({receive(1)}), waits({send(3)}), waits({receive(0)}), runs()});
  CHECK(chain_from(all, 2) == Stuck{2, 0, 1, 3});
  CHECK(chain_from(all, 3) == Stuck{3});
  CHECK(stuck_of(all).empty());
}

namespace {

/// The largest set of waiting ranks none of which can be freed by a rank outside of it: by trying all sets.
Stuck largest_closed_set(const Survey& all) {
  const auto count = static_cast<std::uint32_t>(all.size());
  const auto is_closed = [&](std::uint32_t set) {
    const auto outside = [&](std::int32_t rank) {
      return (set >> rank & 1) == 0 && all[static_cast<std::size_t>(rank)].course != Course::ended;
    };
    for (std::uint32_t rank = 0; rank < count; ++rank) {
      if ((set >> rank & 1) == 0) continue;
      if (all[rank].course != Course::waits || all[rank].report->is_under_way) return false;
      std::size_t free = 0;
      const auto& awaited = all[rank].report->awaited;
      for (const Awaited& each : awaited) {
        bool frees = false;
        for (std::int32_t other = 0; other < static_cast<std::int32_t>(count); ++other) {
          const bool is_meant = each.peer == any_rank ? other != static_cast<std::int32_t>(rank) &&
                                                            each.ranks.contains(static_cast<unsigned>(other))
                                                      : each.peer == other;
          frees = frees || (is_meant && outside(other));
        }
        free += frees;
      }
      if (all[rank].report->any_suffices ? free > 0 : free == awaited.size()) return false;
    }
    return true;
  };
  std::uint32_t largest = 0;
  for (std::uint32_t set = 0; set < 1u << count; ++set)
    if (is_closed(set)) largest |= set;  // Closed sets together are one.
  Stuck stuck;
  for (std::uint32_t rank = 0; rank < count; ++rank)
    if ((largest >> rank & 1) != 0) stuck.push_back(rank);
  return stuck;
}

Survey random_survey(std::mt19937& random) {
  const auto below = [&](std::size_t bound) { return static_cast<std::int32_t>(random() % bound); };
  const std::size_t count = 1 + random() % 7;
  std::vector<SurveyedRank> ranks;
  for (std::size_t i = 0; i < count; ++i) {
    const int what = below(12);
    if (what == 0) {
      ranks.push_back(runs());
    } else if (what == 1) {
      ranks.push_back(ended());
    } else {
      std::vector<Awaited> awaited;
      for (int more = below(3); more >= 0; --more) {
        awaited.push_back(receive(below(5) == 0 ? any_rank : below(count)));
        const int some[] = {below(count), below(count)};
        if (awaited.back().peer == any_rank && below(2) == 0) awaited.back().ranks = Ranks::of(some);
      }
      ranks.push_back(waits(std::move(awaited), below(2) == 0));
      ranks.back().report->is_under_way = what == 2;
    }
  }
  return survey(std::move(ranks));
}

}  // namespace

TEST_CASE("waits: the judge finds what a search through all sets of ranks finds", "[waits]") {
  std::mt19937 random(20);
  std::size_t deadlocks = 0;
  for (int round = 0; round < 20'000; ++round) {
    const Survey all = random_survey(random);
    const Stuck expected = largest_closed_set(all);
    INFO("round " << round);
    REQUIRE(judge(all, all).stuck == expected);
    deadlocks += !expected.empty();
  }
  CHECK(deadlocks > 1000);
  CHECK(deadlocks < 19'000);
}
