#include "link_choice.hpp"

#include "test.hpp"

using namespace llamada;
using namespace llamada::launcher;

namespace {

const std::vector<std::string> names{"a", "b", "c"};

/// Three nodes whose links carry the same everywhere.
std::vector<NodeProbe> all_of(std::uint32_t udp_bytes, std::uint32_t ethernet_mtu) {
  return std::vector<NodeProbe>(3, {"", std::vector<PairProbe>(3, {udp_bytes, ethernet_mtu, 1000})});
}

std::string refusal(LinkWish wish, const std::vector<NodeProbe>& probes) {
  const auto chosen = choose_link(wish, probes, names);
  REQUIRE_FALSE(chosen);
  return chosen.error().text();
}

}  // namespace

TEST_CASE("link choice: raw Ethernet for small messages where it reaches all nodes", "[launcher]") {
  for (const LinkWish wish : {LinkWish::automatic, LinkWish::ethernet}) {
    const auto chosen = choose_link(wish, all_of(1472, 1496), names);
    REQUIRE(chosen);
    CHECK(chosen->choice.ethernet_mtu == 1496);
    CHECK(chosen->choice.udp_bytes == 1472);
    CHECK(chosen->what.find("raw Ethernet, 1496 bytes a frame") == 0);
  }
}

TEST_CASE("link choice: UDP where the user wants it", "[launcher]") {
  const auto chosen = choose_link(LinkWish::udp, all_of(1472, 1496), names);
  REQUIRE(chosen);
  CHECK(chosen->choice.ethernet_mtu == 0);
  CHECK(chosen->what == "UDP, 1472 bytes a datagram");
  CHECK(chosen->why == "--link udp");
}

TEST_CASE("link choice: one node without the right to raw sockets is enough for UDP, and is named",
          "[launcher]") {
  auto probes = all_of(1472, 1496);
  probes[1].why_no_ethernet = "it needs CAP_NET_RAW";
  const auto chosen = choose_link(LinkWish::automatic, probes, names);
  REQUIRE(chosen);
  CHECK(chosen->choice.ethernet_mtu == 0);
  CHECK(chosen->why == "the node 'b' has no raw Ethernet: it needs CAP_NET_RAW");
  CHECK(refusal(LinkWish::ethernet, probes) ==
        "--link ethernet is not possible: the node 'b' has no raw Ethernet: it needs CAP_NET_RAW");
}

TEST_CASE("link choice: one pair of nodes that raw frames do not join is enough for UDP, and is named",
          "[launcher]") {
  auto probes = all_of(1472, 1496);
  probes[2].pairs[1].ethernet_mtu = 0;  // one of both directions
  const auto chosen = choose_link(LinkWish::automatic, probes, names);
  REQUIRE(chosen);
  CHECK(chosen->choice.ethernet_mtu == 0);
  CHECK(chosen->why.find("from the node 'b' to the node 'c'") != std::string::npos);
  CHECK(refusal(LinkWish::ethernet, probes).find("from the node 'b' to the node 'c'") != std::string::npos);
}

TEST_CASE("link choice: the datagrams of a job pass on each path", "[launcher]") {
  auto probes = all_of(8952, 8992);
  probes[0].pairs[2] = {1400, 8992, 1};
  probes[2].pairs[1] = {8952, 1496, 1};
  const auto chosen = choose_link(LinkWish::automatic, probes, names);
  REQUIRE(chosen);
  CHECK(chosen->choice.udp_bytes == 1400);
  CHECK(chosen->choice.ethernet_mtu == 1496);
}

TEST_CASE("link choice: without UDP between two nodes there is no job", "[launcher]") {
  auto probes = all_of(1472, 1496);
  probes[1].pairs[0].udp_bytes = 0;
  for (const LinkWish wish : {LinkWish::automatic, LinkWish::udp, LinkWish::ethernet})
    CHECK(refusal(wish, probes).find("UDP does not travel from the node 'a' to the node 'b' and back") == 0);
}
