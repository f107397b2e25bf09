#include "p2p/upkeep.hpp"

#include <memory>
#include <string>

#include "p2p_parts.hpp"
#include "set_clock.hpp"
#include "test.hpp"
#include "world/in_process.hpp"

using namespace llamada;
using namespace llamada::mpi;
using namespace std::chrono_literals;

namespace {

const Error full(Errc::out_of_resources, "the arena is full");

/// How the job ended, if it did.
template <typename Action>
std::string end_of(Action action) {
  try {
    action();
  } catch (const RankEnded& ended) {
    return ended.text;
  }
  return "";
}

}  // namespace

TEST_CASE("upkeep: a rank whose memory is full has patience for half a minute") {
  Parts rank;
  Upkeep upkeep(*rank.world, rank.clock, rank.incoming, false);
  for (auto time = 0ms; time <= 30s; time += 100ms) {
    CHECK(end_of([&] { upkeep.no_memory(full); }).empty());
    rank.clock.pass(100ms);
  }
  CHECK(end_of([&] { upkeep.no_memory(full); }).find("no memory for messages: the arena is full") !=
        std::string::npos);
}

TEST_CASE("upkeep: a rank that had room meanwhile has as much patience again") {
  Parts rank;
  Upkeep upkeep(*rank.world, rank.clock, rank.incoming, false);
  upkeep.no_memory(full);
  rank.clock.pass(1h);
  CHECK(end_of([&] { upkeep.no_memory(full); }).empty());
}

TEST_CASE("upkeep: where histories are kept they are so no longer when memory is full") {
  Parts rank;
  Upkeep upkeep(*rank.world, rank.clock, rank.incoming, true);
  CHECK_FALSE(upkeep.ends_keeping());
  CHECK(upkeep.keeps());
  upkeep.no_memory(full);
  CHECK(upkeep.ends_keeping());
  CHECK_FALSE(upkeep.keeps());
  CHECK_FALSE(upkeep.ends_keeping());
}

TEST_CASE("upkeep: damage is looked for each quarter of a second, and the hooks are called each time") {
  Parts rank;
  Upkeep upkeep(*rank.world, rank.clock, rank.incoming, false);
  int calls = 0;
  upkeep.add_hook([&] { ++calls; });
  rank.world->arena().header().magic = 1;
  const auto look = [&] { return end_of([&] { upkeep.look_around(); }); };
  CHECK(look().empty());  // it has not waited for long
  rank.clock.pass(249ms);
  CHECK(look().empty());
  rank.clock.pass(1ms);
  CHECK(look().find("the arena of rank 0 is damaged") != std::string::npos);
  CHECK(calls == 3);
}
