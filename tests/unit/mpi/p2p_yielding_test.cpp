#include "p2p/yielding.hpp"

#include <chrono>
#include <limits>

#include "test.hpp"
#include "world/cores.hpp"

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

TEST_CASE("yielding: where there is a core for all who want one the own is kept after somebody has used it",
          "[mpi]") {
  Yielding yielding;
  CHECK_FALSE(yielding.stays());
  yielding.took(10us, 0, more_than_run);
  CHECK_FALSE(yielding.stays());
  // Stays for a while only, and this thread may be kept from looking for as long.
  bool stayed = false;
  for (int i = 0; i < 1000 && !stayed; ++i) {
    yielding.took(4ms, 0, more_than_run);
    stayed = yielding.stays();
  }
  CHECK(stayed);
  CHECK(sleeps(yielding) == 0);
  while (yielding.stays()) continue;
}

TEST_CASE("yielding: it sleeps where more wants to run than there are cores", "[mpi]") {
  Yielding yielding;
  constexpr int fewer_than_run = -1;
  yielding.took(4ms, 0, fewer_than_run);
  CHECK_FALSE(yielding.stays());
  CHECK(sleeps(yielding) == Yielding::sleeps_after_a_long_one);
}

TEST_CASE("yielding: a thread may run on a core at least", "[mpi]") { CHECK(cores_allowed() >= 1); }

TEST_CASE("yielding: who asks how many run is among them", "[mpi]") { CHECK(runnable_tasks() >= 1); }
