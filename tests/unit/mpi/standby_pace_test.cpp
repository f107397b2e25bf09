#include <cmath>

#include "standby/pace.hpp"
#include "test.hpp"

using namespace llamada::mpi::standby;
using namespace std::chrono_literals;

TEST_CASE("standby pace: one is due an interval after the last", "[mpi]") {
  Pace pace(10s, 100s);
  CHECK_FALSE(pace.look(109s));
  CHECK(pace.look(110s));
  CHECK(pace.look(111s));
  pace.made(111s, 5ms);
  CHECK_FALSE(pace.look(120s));
  CHECK(pace.look(121s));
  pace.skipped(121s);
  CHECK_FALSE(pace.look(130s));
  CHECK(pace.interval() == 10s);
}

TEST_CASE("standby pace: looks at each call, or at each 64th where calls are fast", "[mpi]") {
  Pace pace(1s, 0s);
  Pace::Time now{};
  const auto look_for = [&](Pace::Time call, Pace::Time duration) {
    std::uint64_t looks = 0;
    for (const Pace::Time end = now + duration; now < end; ++looks) {
      now += call * pace.calls_until_look();
      if (pace.look(now)) pace.skipped(now);
    }
    return looks;
  };
  CHECK(pace.calls_until_look() == 1);
  look_for(1us, 1s);
  CHECK(pace.calls_until_look() == 64);
  // A call takes longer than all of the 64 should.
  CHECK(look_for(10s, 1400s) <= 25);
  CHECK(pace.calls_until_look() == 1);
}

TEST_CASE("standby pace: the automatic interval follows from what one costs", "[mpi]") {
  // Young: the root of 2 * cost * time between deaths.
  const double young = std::sqrt(2 * 0.005 * 86400);
  const auto best = best_interval(5ms, 24h);
  CHECK(std::abs(std::chrono::duration<double>(best).count() - young) < 0.02 * young);
  CHECK(best_interval(20ms, 24h) > best);
  CHECK(best_interval(49h, 24h) == 24h);
  Pace pace(0s, 0s);
  CHECK(pace.interval() == Pace::automatic_first);
  pace.made(10s, 5ms);
  CHECK(pace.interval() == best);
  pace.made(60s, 1us);
  CHECK(pace.interval() == Pace::automatic_min);
  pace.made(70s, 1h);
  CHECK(pace.interval() == Pace::automatic_max);
}
