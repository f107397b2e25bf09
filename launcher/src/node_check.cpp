#include "node_check.hpp"

#include <algorithm>

#include "link_choice.hpp"
#include "llamada/base/result.hpp"

namespace llamada::launcher {
namespace {

/// Pairs of the table; all faults are told in any case.
constexpr std::size_t pairs_shown_max = 100;
/// Clocks that differ by more make logs and file times hard to compare.
constexpr std::int64_t clock_difference_max_ns = 1'000'000'000;

double seconds_of(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e9; }

std::string size_text(std::uint32_t bytes) { return bytes == 0 ? "-" : fmt::format("{} bytes", bytes); }

struct Widths {
  std::size_t name = 4;
};

void add_node(std::string& text, const CheckedNode& node, const Widths& widths) {
  const bool is_good = node.fault.empty();
  const bool has_raw = is_good && node.probe.why_no_ethernet.empty();
  text += fmt::format("{:<8}{:<{}}  {:<10}{}\n", is_good ? "ok" : "fault", node.name, widths.name,
                      is_good ? "reached" : "-",
                      !is_good  ? "-"
                      : has_raw ? "possible"
                                : "no");
}

class PairsTable {
 public:
  PairsTable(std::span<const CheckedNode> nodes, const std::string& udp_ports, const Widths& widths)
      : nodes_(nodes), udp_ports_(udp_ports), widths_(widths) {}

  void add(std::size_t one, std::size_t other) {
    const PairProbe& there = nodes_[one].probe.pairs.at(other);
    const PairProbe both = there_and_back(there, nodes_[other].probe.pairs.at(one));
    const std::uint32_t udp_bytes = both.udp_bytes, mtu = both.ethernet_mtu;
    const std::string &from = nodes_[one].name, &to = nodes_[other].name;
    if (shown_++ < pairs_shown_max)
      rows += fmt::format(
          "{:<8}{:<{}}  {:<{}}  {:<12}{:<12}{:<12}{}\n", udp_bytes != 0 ? "ok" : "fault", from, widths_.name,
          to, widths_.name, size_text(udp_bytes),
          udp_bytes == 0 ? "-" : fmt::format("{:.0f} us", static_cast<double>(there.round_trip_ns) / 1e3),
          size_text(mtu), udp_bytes == 0 ? "-" : fmt::format("{:+.3f} s", seconds_of(there.clock_ahead_ns)));
    if (udp_bytes == 0) {
      is_good = false;
      sentences += fmt::format(
          "UDP does not travel from '{}' to '{}' and back, although TCP does: if a firewall is between them, "
          "open its UDP ports of net.ipv4.ip_local_port_range ({} on this host).\n",
          from, to, udp_ports_);
    } else if (std::abs(there.clock_ahead_ns) > clock_difference_max_ns) {
      sentences += fmt::format("The clock of '{}' is {:.1f} s {} that of '{}': set both by NTP.\n", to,
                               std::abs(seconds_of(there.clock_ahead_ns)),
                               there.clock_ahead_ns > 0 ? "ahead of" : "behind", from);
    }
    const bool both_have =
        nodes_[one].probe.why_no_ethernet.empty() && nodes_[other].probe.why_no_ethernet.empty();
    if (mtu == 0 && both_have)
      sentences += fmt::format(
          "Raw Ethernet frames do not travel from '{}' to '{}' and back: the nodes are not on one Ethernet "
          "segment, or they share one host; jobs use UDP.\n",
          from, to);
  }
  std::string end() const {
    if (shown_ <= pairs_shown_max) return {};
    return fmt::format("        and {} pairs more\n", shown_ - pairs_shown_max);
  }

  std::string rows, sentences;
  bool is_good = true;

 private:
  std::span<const CheckedNode> nodes_;
  const std::string& udp_ports_;
  const Widths& widths_;
  std::size_t shown_ = 0;
};

}  // namespace

NodesReport report_on_nodes(std::span<const CheckedNode> nodes, const std::string& udp_ports) {
  Widths widths;
  for (const CheckedNode& node : nodes) widths.name = std::max(widths.name, node.name.size());
  NodesReport report{fmt::format("{:<8}{:<{}}  {:<10}{}\n", "", "node", widths.name, "agent", "raw Ethernet"),
                     true};
  std::string sentences;
  for (const CheckedNode& node : nodes) {
    add_node(report.text, node, widths);
    if (!node.fault.empty()) {
      report.is_good = false;
      sentences += fmt::format("The node '{}': {}.\n", node.name, node.fault);
    } else if (!node.probe.why_no_ethernet.empty()) {
      sentences += fmt::format("The node '{}' has no raw Ethernet, so jobs use UDP: {}.\n", node.name,
                               node.probe.why_no_ethernet);
    }
  }
  PairsTable pairs(nodes, udp_ports, widths);
  for (std::size_t one = 0; one < nodes.size(); ++one)
    for (std::size_t other = one + 1; other < nodes.size(); ++other)
      if (nodes[one].fault.empty() && nodes[other].fault.empty()) pairs.add(one, other);
  report.is_good = report.is_good && pairs.is_good;
  if (!pairs.rows.empty())
    report.text += fmt::format("\n{:<8}{:<{}}  {:<{}}  {:<12}{:<12}{:<12}{}\n", "", "from", widths.name, "to",
                               widths.name, "UDP", "round trip", "raw frame", "clock") +
                   pairs.rows + pairs.end();
  sentences += pairs.sentences;
  if (!sentences.empty()) report.text += "\n" + sentences;
  return report;
}

}  // namespace llamada::launcher
