#include <set>

#include "crash_points.hpp"
#include "job.hpp"
#include "points.hpp"
#include "test.hpp"

using namespace llamada::crash;

namespace {

// Every step of each operation, with those of core/log; a step that is missing here, in the sources or in the
// run fails the first test.
const std::set<std::string> all_points = [] {
  std::set<std::string> points{
      "attach:announced", "attach:answered",     "attach:arena-mapped", "attach:arena-opened",
      "attach:connected", "attach:links-opened", "attach:peers-mapped", "sleep:asleep",
      "sleep:awake",      "sleep:flag-set",      "wake:before-ring",    "wake:rung",
  };
  points.insert(std::begin(llamada::test::log_crash_points), std::end(llamada::test::log_crash_points));
  return points;
}();

std::set<std::uint64_t> counts_for(std::uint64_t passes) {
  return {1, 2, 3, passes / 3 + 1, passes * 2 / 3 + 1, passes};
}

}  // namespace

TEST_CASE("crash: every point of the sources is passed in a run without a death, and is listed here",
          "[crash]") {
  auto outcome = Job::run();
  REQUIRE(outcome.error == "");
  CHECK(outcome.deaths == 0);
  std::set<std::string> passed;
  for (auto& passes : outcome.passes)
    for (auto& [name, count] : passes) passed.insert(name);
  auto sources = points_in_sources();
  std::erase_if(sources, is_of_endpoints);
  std::erase_if(sources, is_of_standbys);
  std::erase_if(sources, is_of_checkpoints);
  CHECK(only_in(all_points, passed) == "");
  CHECK(only_in(passed, all_points) == "");
  CHECK(only_in(sources, all_points) == "");
  CHECK(only_in(all_points, sources) == "");
}

TEST_CASE("crash: whoever dies at whatever step, the other goes on and the history is whole", "[crash]") {
  auto dry = Job::run();
  REQUIRE(dry.error == "");
  int deaths = 0;
  for (std::uint32_t slot : {writer_slot, reader_slot})
    for (auto& [point, passes] : dry.passes[slot])
      for (auto count : counts_for(passes)) {
        INFO("slot " << slot << " dies at pass " << count << " of " << point << " (" << passes
                     << " in a dry run)");
        auto outcome = Job::run(slot, point, count);
        REQUIRE(outcome.error == "");
        // How often one sleeps, wakes and recycles is a matter of timing, but not whether.
        if (count == 1) REQUIRE(outcome.deaths == 1);
        deaths += outcome.deaths;
      }
  CHECK(deaths > static_cast<int>(all_points.size()));
}
