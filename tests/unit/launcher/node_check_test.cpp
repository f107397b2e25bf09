#include "node_check.hpp"

#include "test.hpp"

using namespace llamada::launcher;

namespace {

std::vector<CheckedNode> two_nodes() {
  const NodeProbe probe{"", {{1472, 1496, 50'000, 0}, {1472, 1496, 50'000, 0}}};
  return {{"a", "", probe}, {"b", "", probe}};
}

bool contains(const NodesReport& report, const std::string& part) {
  return report.text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("node check: nodes without a fault have a table and no sentence", "[launcher]") {
  const NodesReport report = report_on_nodes(two_nodes(), "1 to 2");
  CHECK(report.is_good);
  CHECK(contains(report, "1472 bytes  50 us       1496 bytes  +0.000 s\n"));
  CHECK_FALSE(contains(report, "." + std::string("\n")));
}

TEST_CASE("node check: a node with a fault is told, and its links are not", "[launcher]") {
  auto nodes = two_nodes();
  nodes[1] = {"b", "Llamada 9 is installed there", {}};
  const NodesReport report = report_on_nodes(nodes, "1 to 2");
  CHECK_FALSE(report.is_good);
  CHECK(contains(report, "The node 'b': Llamada 9 is installed there.\n"));
  CHECK_FALSE(contains(report, "round trip"));
}

TEST_CASE("node check: UDP that does not pass is a firewall's fault, with its ports", "[launcher]") {
  auto nodes = two_nodes();
  nodes[1].probe.pairs[0].udp_bytes = 0;
  const NodesReport report = report_on_nodes(nodes, "1 to 2");
  CHECK_FALSE(report.is_good);
  CHECK(contains(report, "UDP does not travel from 'a' to 'b' and back"));
  CHECK(contains(report, "(1 to 2 on this host)"));
}

TEST_CASE("node check: no raw Ethernet, and clocks that differ, are told and no fault", "[launcher]") {
  auto nodes = two_nodes();
  nodes[0].probe.pairs[1] = {1472, 0, 50'000, -2'000'000'000};
  CHECK(contains(report_on_nodes(nodes, ""), "The clock of 'b' is 2.0 s behind that of 'a'"));
  CHECK(contains(report_on_nodes(nodes, ""), "frames do not travel from 'a' to 'b'"));
  nodes[1].probe.why_no_ethernet = "no right";
  const NodesReport report = report_on_nodes(nodes, "");
  CHECK(contains(report, "The node 'b' has no raw Ethernet, so jobs use UDP: no right.\n"));
  CHECK_FALSE(contains(report, "frames do not travel"));
  CHECK(report.is_good);
}
