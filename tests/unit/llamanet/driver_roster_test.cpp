#include "driver_roster.hpp"

#include <sys/syscall.h>

#include "node.hpp"
#include "process.hpp"

using namespace llamada;
using namespace llamada::llamanet;

namespace {

DriverRoster roster_of(DriverOptions options) {
  options.arena_size_bytes = 1 << 20;
  auto roster = DriverRoster::create(options);
  REQUIRE(roster);
  return std::move(*roster);
}

FileDescriptor own_process() {
  return FileDescriptor(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
}
std::uint32_t own_pid() { return static_cast<std::uint32_t>(::getpid()); }

Status watch_none(int, std::uint32_t) { return {}; }

/// The message of an application of a driver that started at `driver_start_ns`, whose only others are these.
Rejoin rejoin(std::uint64_t driver_start_ns, std::vector<RosterLine> roster) {
  Rejoin message;
  message.arena_last = 40;
  message.driver_start_ns = driver_start_ns;
  message.roster = std::move(roster);
  return message;
}

}  // namespace

TEST_CASE("driver roster: each arena has a number of its own, and a freed slot is taken again",
          "[llamanet]") {
  auto roster = roster_of(on_demand());
  const auto first = roster.take(), second = roster.take();
  REQUIRE((first && second));
  const auto arena = roster.entry(*first).arena.load();
  CHECK(arena != roster.entry(*second).arena.load());
  CHECK(roster.find_arena(arena) == *first);
  roster.free(*first);
  CHECK_FALSE(roster.find_arena(arena));
  const auto third = roster.take();
  REQUIRE(third);
  CHECK(*third == *first);
  CHECK(roster.entry(*third).arena.load() != arena);
  CHECK(roster.count() == 2);
}

TEST_CASE("driver roster: its pages say who is attached", "[llamanet]") {
  auto roster = roster_of(on_demand());
  const auto slot = roster.take();
  REQUIRE(slot);
  CHECK(roster.attached_count() == 0);
  roster.attach(*slot, own_pid(), own_process(), 3);
  CHECK(roster.attached_count() == 1);
  CHECK(roster.state(*slot) == SlotState::attached);
  CHECK(roster.entry(*slot).pid.load() == own_pid());
  CHECK(roster.entry(*slot).process_start.load() == start_of_process(own_pid()));
  roster.leave(*slot, SlotState::dead);
  CHECK(roster.entry(*slot).deaths.load() == 1);
  CHECK(roster.entry(*slot).pid.load() == 0);
}

TEST_CASE("driver roster: places are kept for the living of the driver before", "[llamanet]") {
  auto roster = roster_of(on_demand());
  std::vector<std::uint32_t> watched;
  const auto watch = [&](int process, std::uint32_t slot) {
    CHECK_FALSE(has_ended(process));
    watched.push_back(slot);
    return Status();
  };
  const auto start = start_of_process(own_pid());
  const RosterLine living{2, 30, own_pid(), start};
  const RosterLine another_process{3, 31, own_pid(), start + 1};
  REQUIRE(roster.take_over(rejoin(100, {living, another_process}), watch));
  CHECK(watched == std::vector<std::uint32_t>{2});
  CHECK(roster.is_reserved(2));
  CHECK(roster.find_arena(30) == 2u);
  CHECK_FALSE(roster.find_arena(31));
  // Numbers go on behind those of the driver before.
  const auto next = roster.take();
  REQUIRE(next);
  CHECK(roster.entry(*next).arena.load() != 30);

  // An older roster changes nothing, a newer one that does not list it lets go of the place.
  REQUIRE(roster.take_over(rejoin(99, {}), watch_none));
  CHECK(roster.is_reserved(2));
  REQUIRE(roster.take_over(rejoin(101, {}), watch_none));
  CHECK_FALSE(roster.is_reserved(2));
}

TEST_CASE("driver roster: an arena that is brought comes into its place", "[llamanet]") {
  auto roster = roster_of(on_demand());
  REQUIRE(roster.take_over(rejoin(100, {{2, 30, own_pid(), 0}}), watch_none));
  Rejoin brought;
  brought.arena = 30;
  auto memory = create_memory("test", 1 << 20);
  auto event = create_eventfd();
  REQUIRE((memory && event));
  const auto slot = roster.adopt(brought, std::move(*memory), std::move(*event));
  REQUIRE(slot);
  CHECK(*slot == 2);
  roster.attach(*slot, own_pid(), own_process(), 1);
  // Its number is another application's by now.
  auto again = create_memory("test", 1 << 20);
  auto other_event = create_eventfd();
  REQUIRE((again && other_event));
  const auto refused = roster.adopt(brought, std::move(*again), std::move(*other_event));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == Errc::already_exists);
}

TEST_CASE("driver roster: nothing is read from an arena that is too short for its header", "[llamanet]") {
  auto roster = roster_of(on_demand());
  Rejoin brought;
  brought.arena = 30;
  auto memory = create_growing_memory("test", 0);
  auto event = create_eventfd();
  REQUIRE((memory && event));
  const auto slot = roster.adopt(brought, std::move(*memory), std::move(*event));
  REQUIRE(slot);
  CHECK_FALSE(roster.view(*slot).ready());
  CHECK_FALSE(roster.view(*slot).is_damaged());
}
