#include "llamada/llamanet/roster.hpp"

#include "driver_roster.hpp"
#include "node.hpp"

using namespace llamada;
using namespace llamada::llamanet;

namespace {

std::unique_ptr<Application> attach(const ApplicationOptions& options) {
  auto application = Application::attach(options);
  REQUIRE(application);
  return std::move(*application);
}

/// The page of a driver that has taken over these lines.
DriverRoster next_driver(const std::vector<RosterLine>& lines) {
  auto options = on_demand();
  options.arena_size_bytes = 64 << 20;
  auto created = DriverRoster::create(options);
  REQUIRE(created);
  Rejoin rejoin;
  rejoin.driver_start_ns = 1;
  rejoin.roster = lines;
  REQUIRE(created->take_over(rejoin, [](int, std::uint32_t) { return Status(); }));
  return std::move(*created);
}

MappedPage page_of(const DriverRoster& driver) {
  auto page = MappedPage::map(driver.page_descriptor());
  REQUIRE(page);
  return std::move(*page);
}

}  // namespace

TEST_CASE("roster: only the first peers are mapped where so few are asked for, the others when they are met",
          "[llamanet]") {
  Node node({}, 4);
  for (std::uint32_t slot = 0; slot < 4; ++slot) node.driver().expect(slot, 7, 1);
  node.start();
  auto options = node.options(1, 7);
  options.first_peer = 1;
  options.peer_count = 2;
  const auto application = attach(options);
  auto& roster = application->roster();
  CHECK(roster.own_slot() == 1);
  CHECK(roster.slot_count() == 4);
  const auto is_mapped = [&](std::uint32_t slot) { return roster.peer(slot).base != nullptr; };
  CHECK_FALSE(is_mapped(0));
  CHECK(is_mapped(1));
  CHECK(is_mapped(2));
  CHECK_FALSE(is_mapped(3));
  REQUIRE(roster.meet(3));
  CHECK(is_mapped(3));
  CHECK(roster.doorbell(3).header == &roster.peer(3).header());
  REQUIRE(roster.part(3));
  CHECK_FALSE(is_mapped(3));
  CHECK(roster.doorbell(3).header == nullptr);
  REQUIRE(roster.part(1));  // its own, which stays
  CHECK(is_mapped(1));
  CHECK_FALSE(is_mapped(1000));
}

TEST_CASE("roster: what refresh has found gone stays mapped until it is released", "[llamanet]") {
  Node node(on_demand());
  node.start();
  const auto stays = attach(node.options());
  auto leaves = attach(node.options());
  auto& roster = stays->roster();
  REQUIRE(roster.refresh());
  const auto arena = roster.peer(leaves->slot());
  REQUIRE(arena.ready());
  const auto slot = leaves->slot();
  leaves.reset();
  while (roster.slot_state(slot) != SlotState::free) std::this_thread::yield();
  const auto changed = roster.refresh();
  REQUIRE(changed);
  CHECK(*changed);
  CHECK(roster.peer(slot).base == nullptr);
  CHECK(arena.ready());
  roster.release_replaced();
}

TEST_CASE("roster: peers follow their arenas to where the next driver has them", "[llamanet]") {
  Node node(on_demand());
  node.start();
  const auto own = attach(node.options()), second = attach(node.options()), third = attach(node.options());
  auto& roster = own->roster();
  REQUIRE(roster.refresh());
  auto lines = roster.lines();
  REQUIRE(lines.size() == 3);
  const auto* const header = &roster.peer(1).header();

  const auto same = next_driver(lines);
  CHECK(roster.follow(page_of(same), 0).empty());
  CHECK(&roster.peer(1).header() == header);

  std::swap(lines[1].slot, lines[2].slot);
  lines[0].slot = 5;
  const auto other = next_driver(lines);
  const auto moves = roster.follow(page_of(other), 5);
  REQUIRE(moves.size() == roster.slot_count_max());
  CHECK(moves[0] == 5);
  CHECK(moves[1] == 2);
  CHECK(moves[2] == 1);
  CHECK(roster.own_slot() == 5);
  CHECK(&roster.peer(2).header() == header);
  CHECK(roster.peer_arena(2) == lines[1].arena);
  // Each old slot has a new one of its own.
  std::vector<std::uint32_t> all(moves);
  std::sort(all.begin(), all.end());
  for (std::uint32_t slot = 0; slot < all.size(); ++slot) CHECK(all[slot] == slot);
}
