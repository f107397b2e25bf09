#include "p2p/own_core.hpp"

#include <sched.h>

#include <functional>
#include <initializer_list>
#include <memory>
#include <thread>
#include <vector>

#include "set_clock.hpp"
#include "test.hpp"
#include "world/cores.hpp"
#include "world/in_process.hpp"

using namespace llamada;
using namespace llamada::mpi;

namespace {

cpu_set_t cores(std::initializer_list<int> list) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : list) CPU_SET(core, &set);
  return set;
}

cpu_set_t affinity() {
  cpu_set_t set;
  LLAMADA_CHECK(sched_getaffinity(0, sizeof(set), &set) == 0);
  return set;
}

/// Ranks that are in their programs, all in this thread.
struct Ranks {
  std::unique_ptr<InProcessJob> job;
  std::vector<std::unique_ptr<World>> worlds;

  explicit Ranks(int size) {
    InProcessJob::Options options;
    options.size = size;
    auto created = InProcessJob::create(options);
    REQUIRE(created);
    job = std::move(*created);
    for (int rank = 0; rank < size; ++rank) {
      auto world = job->attach(rank);
      REQUIRE(world);
      worlds.push_back(std::move(*world));
      worlds.back()->arena().set_state(log::ArenaState::in_program);
    }
  }
  int said(int rank) {
    const auto* area = reinterpret_cast<const RankArea*>(worlds[0]->peer(rank).header().user);
    return static_cast<int>(area->core.load(std::memory_order_relaxed)) - 1;
  }
};

/// Rank 0, and then rank 1.
void settle(Ranks& ranks) {
  const SetClock clock;
  for (int rank = 0; rank < 2; ++rank) OwnCore(*ranks.worlds[static_cast<std::size_t>(rank)], clock).settle();
}

/// Runs it in a thread of its own, so that this one stays where it is.
void apart(const std::function<void()>& what) { std::thread(what).join(); }

}  // namespace

TEST_CASE("own_core: the next core that is free is taken, and after the last the first", "[mpi]") {
  CHECK(OwnCore::next_free(0, cores({0, 1}), cores({0})) == 1);
  CHECK(OwnCore::next_free(1, cores({0, 1}), cores({1})) == 0);
  CHECK(OwnCore::next_free(2, cores({0, 2, 3, 5}), cores({2, 3})) == 5);
  CHECK(OwnCore::next_free(3, cores({1, 3}), cores({3})) == 1);
  CHECK(OwnCore::next_free(0, cores({0, 1}), cores({0, 1})) == -1);
  CHECK(OwnCore::next_free(0, cores({0}), cores({0})) == -1);
}

TEST_CASE("own_core: a rank says where it waits", "[mpi]") {
  Ranks ranks(2);
  CHECK(ranks.said(0) == -1);
  OwnCore(*ranks.worlds[0], SetClock()).settle();
  const cpu_set_t allowed = affinity();
  CHECK(CPU_ISSET(ranks.said(0), &allowed));
  CHECK(ranks.said(1) == -1);
}

TEST_CASE("own_core: a rank leaves the core where another is, and may then run where it might before",
          "[mpi]") {
  if (cores_allowed() < 2) return;
  Ranks ranks(2);
  const cpu_set_t before = affinity();
  cpu_set_t after;
  apart([&] {
    settle(ranks);
    after = affinity();
  });
  CHECK(CPU_EQUAL(&before, &after));
  CHECK(ranks.said(0) != ranks.said(1));
  CHECK(CPU_ISSET(ranks.said(1), &before));
}

TEST_CASE("own_core: a rank that is bound stays", "[mpi]") {
  Ranks ranks(2);
  const cpu_set_t allowed = affinity();
  const cpu_set_t only = cores({OwnCore::next_free(-1, allowed, cores({}))});
  cpu_set_t after;
  apart([&] {
    LLAMADA_CHECK(sched_setaffinity(0, sizeof(only), &only) == 0);
    settle(ranks);
    after = affinity();
  });
  CHECK(CPU_EQUAL(&only, &after));
  CHECK(ranks.said(0) == ranks.said(1));
}

TEST_CASE("own_core: a rank stays where one is that is over, and where there are too few cores", "[mpi]") {
  const bool over = GENERATE(true, false);
  Ranks ranks(over ? 2 : cores_allowed() + 1);
  if (over) ranks.worlds[0]->arena().set_state(log::ArenaState::finalized);
  // The system may move this thread in between.
  bool stayed = false;
  for (int i = 0; i < 1000 && !stayed; ++i) {
    settle(ranks);
    stayed = ranks.said(0) == ranks.said(1);
  }
  CHECK(stayed);
}
