#include "llamada/launcher/placement.hpp"

#include "test.hpp"

using namespace llamada;
using namespace llamada::launcher;

namespace {

using Hosts = std::vector<HostEntry>;

Placement placed(const Hosts& hosts, const PlacementRequest& request) {
  auto placement = place_ranks(hosts, request);
  REQUIRE(placement);
  return *placement;
}

PlacementRequest request_of(std::uint32_t rank_count, HostOrder order = HostOrder::by_slot,
                            bool oversubscribe = false) {
  return {rank_count, order, oversubscribe, {}};
}

}  // namespace

TEST_CASE("placement: slots are filled host by host, or in turn", "[launcher]") {
  const Hosts hosts{{"a", 2, {}}, {"b", 3, {}}};
  CHECK(placed(hosts, request_of(5)) == Placement{{"a", "b"}, {0, 0, 1, 1, 1}});
  CHECK(placed(hosts, request_of(3)) == Placement{{"a", "b"}, {0, 0, 1}});
  CHECK(placed(hosts, request_of(5, HostOrder::by_node)) == Placement{{"a", "b"}, {0, 1, 0, 1, 1}});
}

TEST_CASE("placement: hosts without ranks are left out", "[launcher]") {
  CHECK(placed({{"a", 0, {}}, {"b", 4, {}}, {"c", 1, {}}}, request_of(2)) == Placement{{"b"}, {0, 0}});
}

TEST_CASE("placement: more ranks than slots are refused, unless that is allowed", "[launcher]") {
  const Hosts hosts{{"a", 1, {}}, {"b", {}, {}}};
  const auto refused = place_ranks(hosts, request_of(4));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().text().find("4 ranks need more than the 2 slots of the hosts (1 on a, 1 on b)") !=
        std::string::npos);
  CHECK(placed(hosts, request_of(5, HostOrder::by_slot, true)) == Placement{{"a", "b"}, {0, 0, 0, 1, 1}});
  CHECK(placed(hosts, request_of(5, HostOrder::by_node, true)) == Placement{{"a", "b"}, {0, 1, 0, 1, 0}});
}

TEST_CASE("placement: max-slots hold even where more ranks than slots are allowed", "[launcher]") {
  const Hosts hosts{{"a", 1, 2}, {"b", 1, 4}};
  CHECK(placed(hosts, request_of(6, HostOrder::by_slot, true)) == Placement{{"a", "b"}, {0, 0, 1, 1, 1, 1}});
  const auto refused = place_ranks(hosts, request_of(7, HostOrder::by_slot, true));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().text().find("take at most 6") != std::string::npos);
}

TEST_CASE("placement: a number of ranks for each node goes before the slots", "[launcher]") {
  PlacementRequest request = request_of(4);
  request.ranks_per_node = 2;
  CHECK(placed({{"a", 8, {}}, {"b", {}, {}}}, request) == Placement{{"a", "b"}, {0, 0, 1, 1}});
  request.rank_count = 5;
  CHECK_FALSE(place_ranks({{"a", 8, {}}, {"b", {}, {}}}, request));
}
