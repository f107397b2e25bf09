#include "participants.hpp"

#include <set>

#include "points.hpp"
#include "test.hpp"

using namespace llamada::crash;

namespace {

/// Steps of the MPI library's own logs and journals: crash_test.cpp, tests/system/facade_steps_test.cpp.
bool is_of_the_facade(const std::string& point) {
  return point.starts_with("journal:") || is_of_checkpoints(point) || point.starts_with("directory:cursor") ||
         point.starts_with("directory:endpoint") || point == "publish:announced" ||
         point == "attach:links-opened" || point == "publish:some-equal" || point == "publish:some-filled" ||
         point.starts_with("publish:withdraw");
}

/// Steps at which the pool gives free memory another shape, which these parties hardly need:
/// tests/unit/topics/crash_test.cpp dies at each.
bool is_of_the_pool(const std::string& point) {
  return point.starts_with("join:") || point.starts_with("split:");
}

std::set<std::uint64_t> counts_for(std::uint64_t passes) { return {1, 2, passes / 2 + 1, passes}; }

/// Kills one of `parties` at each step that it passes; the others must go on.
int kill_at_every_step(Kind kind, std::initializer_list<std::uint32_t> parties) {
  const auto dry = run_parties(kind);
  REQUIRE(dry.error == "");
  int deaths = 0;
  for (const std::uint32_t victim : parties)
    for (const auto& [point, passes] : dry.passes[victim])
      for (const auto count : counts_for(passes)) {
        INFO("party " << victim << " dies at pass " << count << " of " << point << " (" << passes
                      << " in a dry run)");
        const auto outcome = run_parties(kind, victim, point, count);
        REQUIRE(outcome.error == "");
        deaths += outcome.victim_died;
      }
  return deaths;
}

}  // namespace

TEST_CASE("parties: every step of the log, of topics and of llamaNET is passed in a run without a death",
          "[crash]") {
  std::set<std::string> passed;
  for (const Kind kind : {Kind::keep_all, Kind::keep_last}) {
    const auto outcome = run_parties(kind);
    REQUIRE(outcome.error == "");
    for (const auto& passes : outcome.passes)
      for (const auto& [name, count] : passes) passed.insert(name);
  }
  std::string missing;
  for (const auto* folder : {"core/log", "core/topics", "transport/llamanet"})
    for (const auto& point : points_in(folder))
      if (!is_of_the_facade(point) && !is_of_the_pool(point) && !is_of_standbys(point) &&
          !passed.contains(point))
        missing += point + " ";
  CHECK(missing == "");
}

TEST_CASE("parties: whichever step a writer dies at, both readers have the same of it and all of the other",
          "[crash]") {
  CHECK(kill_at_every_step(Kind::keep_all, {0}) > 50);
}

TEST_CASE("parties: whichever step a reader dies at, the writers go on, and the other reader misses nothing",
          "[crash]") {
  CHECK(kill_at_every_step(Kind::keep_all, {2}) > 50);
}

TEST_CASE(
    "parties: whichever step a KEEP_LAST writer or its reader dies at, nobody is held, and what is new comes",
    "[crash]") {
  CHECK(kill_at_every_step(Kind::keep_last, {0, 2}) > 50);
}
