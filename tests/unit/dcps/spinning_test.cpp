#include "spinning.hpp"

#include "test.hpp"

// How long a thread looks before it sleeps.

using namespace llamada::dcps::detail;
using namespace std::chrono_literals;

namespace {

constexpr unsigned several_cores = 4;
constexpr auto a_slice = 4ms;
constexpr auto a_turn = 2us;       // of a process that looks and yields, too
constexpr auto to_nobody = 200ns;  // what such a yield takes

int waits_without_spinning(Spinning& spinning) {
  int count = 0;
  while (spinning.span() == 0ns && count < 10000) ++count;
  return count;
}

}  // namespace

TEST_CASE("spinning: on one core nobody looks", "[dcps]") {
  Spinning spinning(1);
  CHECK(spinning.span() == 0ns);
  spinning.came_after(1us);
  CHECK(spinning.span() == 0ns);
}

TEST_CASE("spinning: what comes late is looked for shortly, what comes soon for long", "[dcps]") {
  Spinning spinning(several_cores);
  const auto longest = spinning.span();
  spinning.came_after(1s);
  CHECK(spinning.span() < longest);
  for (int i = 0; i < 100; ++i) spinning.came_after(1s);
  CHECK(spinning.span() > 0ns);
  spinning.came_after(1us);
  CHECK(spinning.span() == longest);
}

TEST_CASE("spinning: the core is given away after each look as long as others want it", "[dcps]") {
  Spinning spinning(several_cores);
  CHECK_FALSE(spinning.yields_after(1));
  int looks = 1;
  while (!spinning.yields_after(looks)) ++looks;  // to see whether others want it
  CHECK(spinning.yielded(to_nobody));
  CHECK_FALSE(spinning.yields_after(1));
  CHECK(spinning.yielded(a_turn));
  CHECK(spinning.yields_after(1));
  CHECK(spinning.yielded(to_nobody));
  CHECK_FALSE(spinning.yields_after(1));
}

TEST_CASE("spinning: what the others do meanwhile does not count as looking", "[dcps]") {
  CHECK(Spinning::cost_of_yield(to_nobody) == to_nobody);
  CHECK(Spinning::cost_of_yield(500us) < a_turn);
}

TEST_CASE("spinning: who lost slices sleeps instead, the more often the longer", "[dcps]") {
  Spinning spinning(several_cores);
  CHECK_FALSE(spinning.yielded(a_slice));
  const int first = waits_without_spinning(spinning);
  CHECK(first > 0);
  CHECK_FALSE(spinning.yielded(a_slice));
  const int second = waits_without_spinning(spinning);
  CHECK(second > first);
  for (int i = 0; i < 10; ++i) (void)spinning.yielded(a_slice);
  const int most = waits_without_spinning(spinning);
  CHECK(most < 10000);
  for (int i = 0; i < 1000; ++i) CHECK(spinning.yielded(a_turn));
  CHECK_FALSE(spinning.yielded(a_slice));
  CHECK(waits_without_spinning(spinning) < most);
}
