#include "threads/yielding.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

#include "set_clock.hpp"
#include "test.hpp"
#include "world/cores.hpp"

using llamada::SetClock;
using namespace llamada::mpi;
using namespace std::chrono_literals;

namespace {

constexpr int more_than_run = std::numeric_limits<int>::max();
constexpr int fewer_than_run = -1;

/// How often it sleeps until it yields again.
int sleeps(Yielding& yielding) {
  int count = 0;
  while (!yielding.yield(more_than_run)) ++count;
  return count;
}

}  // namespace

TEST_CASE("yielding: after a long yield to somebody else it sleeps for a while", "[mpi]") {
  const SetClock clock;
  Yielding yielding(clock);
  yielding.took(4ms, 0);
  CHECK(sleeps(yielding) == Yielding::sleeps_after_a_long_one);
  CHECK(sleeps(yielding) == 0);
}

TEST_CASE("yielding: ranks that share cores sleep a few times, and twice as often if that was no use",
          "[mpi]") {
  const SetClock clock;
  Yielding yielding(clock);
  for (int wanted = Yielding::sleeps_at_first; wanted < 1000; wanted *= 2) {
    yielding.took(4ms, fewer_than_run);
    CHECK(sleeps(yielding) == std::min(wanted, Yielding::sleeps_after_a_long_one));
  }
  for (std::uint64_t i = 0; i < Yielding::yields_until_calm; ++i) (void)yielding.yield(more_than_run);
  yielding.took(4ms, fewer_than_run);
  CHECK(sleeps(yielding) == Yielding::sleeps_at_first);
}

TEST_CASE("yielding: it says that it is to sleep from a long yield on, until it yields again", "[mpi]") {
  const SetClock clock;
  Yielding yielding(clock);
  CHECK_FALSE(yielding.is_to_sleep());
  yielding.took(4ms, 0);
  CHECK(yielding.is_to_sleep());
  while (!yielding.yield(more_than_run)) continue;
  CHECK_FALSE(yielding.is_to_sleep());
}

TEST_CASE("yielding: after a short yield it yields again", "[mpi]") {
  const SetClock clock;
  Yielding yielding(clock);
  yielding.took(10us, 0);
  CHECK_FALSE(yielding.is_to_sleep());
  CHECK(sleeps(yielding) == 0);
}

TEST_CASE("yielding: where nobody but the ranks wants to run a long yield is no reason to sleep", "[mpi]") {
  const SetClock clock;
  Yielding yielding(clock);
  yielding.took(4ms, more_than_run);
  CHECK(sleeps(yielding) == 0);
}

TEST_CASE("yielding: where there is a core for all who want one the own is kept after somebody has used it",
          "[mpi]") {
  SetClock clock;
  Yielding yielding(clock);
  CHECK_FALSE(yielding.stays());
  yielding.took(10us, 0, more_than_run);
  CHECK_FALSE(yielding.stays());
  yielding.took(4ms, 0, more_than_run);
  CHECK(yielding.stays());
  CHECK(sleeps(yielding) == 0);
  clock.pass(4ms);
  CHECK(yielding.stays());
  clock.pass(1ms);
  CHECK_FALSE(yielding.stays());
}

TEST_CASE("yielding: it sleeps where more wants to run than there are cores", "[mpi]") {
  const SetClock clock;
  Yielding yielding(clock);
  yielding.took(4ms, 0, fewer_than_run);
  CHECK_FALSE(yielding.stays());
  CHECK(sleeps(yielding) == Yielding::sleeps_after_a_long_one);
}

TEST_CASE("yielding: before it sleeps it lingers, from the beginning of each wait", "[mpi]") {
  SetClock clock;
  Yielding yielding(clock);
  CHECK_FALSE(yielding.lingers(true));
  yielding.took(4ms, 0);
  for (int wait = 0; wait < 2; ++wait) {
    CHECK(yielding.lingers(true));
    clock.pass(199us);
    CHECK(yielding.lingers(false));
    clock.pass(1us);
    CHECK_FALSE(yielding.lingers(false));
  }
  CHECK(sleeps(yielding) == Yielding::sleeps_after_a_long_one);
  CHECK_FALSE(yielding.lingers(true));
}

namespace {

struct Scheduling {
  int policy = -1;
  int nice = 0;
  std::uint64_t slice_ns = 0;
};

Scheduling scheduling() {
  std::uint32_t words[14] = {};
  if (syscall(SYS_sched_getattr, 0, words, sizeof(words), 0) != 0) return {};
  return {static_cast<int>(words[1]), static_cast<int>(words[4]), words[6] | std::uint64_t{words[7]} << 32};
}

/// A slice as this system has it after somebody asked for one of 100 us: Linux before 6.12 has one length for
/// all.
std::uint64_t short_slice_ns() {
  std::uint64_t slice = 0;
  std::thread([&slice] {
    std::uint32_t words[12] = {};
    if (syscall(SYS_sched_getattr, 0, words, sizeof(words), 0) != 0) return;
    words[6] = 100'000;
    words[7] = 0;
    syscall(SYS_sched_setattr, 0, words, 0);
    slice = scheduling().slice_ns;
  }).join();
  return slice;
}

/// A thread's attributes before and after it has been asked, behind a yield that took so long, whether it
/// lingers.
std::pair<Scheduling, Scheduling> around_wait(std::chrono::nanoseconds yield) {
  std::pair<Scheduling, Scheduling> seen;
  std::thread([&] {
    seen.first = scheduling();
    const SetClock clock;
    Yielding yielding(clock);
    yielding.took(yield, 0);
    (void)yielding.lingers(true);
    seen.second = scheduling();
  }).join();
  return seen;
}

}  // namespace

TEST_CASE("yielding: who shares a core with somebody else asks for short slices, and for nothing else",
          "[mpi]") {
  const auto [before, after] = around_wait(4ms);
  CHECK(before.policy >= 0);
  CHECK(after.policy == before.policy);
  CHECK(after.nice == before.nice);
  CHECK(after.slice_ns == short_slice_ns());
}

TEST_CASE("yielding: where yields are short slices stay as they are", "[mpi]") {
  const auto [before, after] = around_wait(10us);
  CHECK(after.slice_ns == before.slice_ns);
}

TEST_CASE("yielding: the cores allowed are those of the thread's mask", "[mpi]") {
  std::thread([] {
    cpu_set_t mask;
    REQUIRE(sched_getaffinity(0, sizeof(mask), &mask) == 0);
    CHECK(cores_allowed() == CPU_COUNT(&mask));
    int first = 0;
    while (!CPU_ISSET(first, &mask)) ++first;
    CPU_ZERO(&mask);
    CPU_SET(first, &mask);
    REQUIRE(sched_setaffinity(0, sizeof(mask), &mask) == 0);
    CHECK(cores_allowed() == 1);
  }).join();
}

TEST_CASE("yielding: threads that compute are among those that want to run", "[mpi]") {
  constexpr int count = 3;
  std::atomic<bool> ends{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&ends] {
      while (!ends) continue;
    });
  CHECK(runnable_tasks() >= count);  // and this one, unless it is just being counted
  ends = true;
  for (auto& thread : threads) thread.join();
}
