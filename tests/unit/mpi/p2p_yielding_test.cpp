#include "p2p/yielding.hpp"

#include <chrono>
#include <limits>

#include "test.hpp"

using namespace llamada::mpi;
using namespace std::chrono_literals;

namespace {

constexpr int more_than_run = std::numeric_limits<int>::max();

/// How often it sleeps until it yields again.
int sleeps(Yielding& yielding) {
  int count = 0;
  while (!yielding.yield(more_than_run)) ++count;
  return count;
}

}  // namespace

TEST_CASE("yielding: after a long yield to somebody else it sleeps for a while", "[mpi]") {
  Yielding yielding;
  yielding.took(4ms, 0);
  CHECK(sleeps(yielding) == Yielding::sleeps_after_a_long_one);
  CHECK(sleeps(yielding) == 0);
}

TEST_CASE("yielding: after a short yield it yields again", "[mpi]") {
  Yielding yielding;
  yielding.took(10us, 0);
  CHECK(sleeps(yielding) == 0);
}

TEST_CASE("yielding: where nobody but the ranks wants to run a long yield is no reason to sleep", "[mpi]") {
  Yielding yielding;
  yielding.took(4ms, more_than_run);
  CHECK(sleeps(yielding) == 0);
}

TEST_CASE("yielding: who asks how many run is among them", "[mpi]") { CHECK(runnable_tasks() >= 1); }
