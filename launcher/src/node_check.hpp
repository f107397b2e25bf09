#pragma once

#include <span>
#include <string>
#include <vector>

#include "llamada/launcher/links.hpp"

namespace llamada::launcher {

/// A node as `llamada doctor --nodes` has found it.
struct CheckedNode {
  std::string name;
  std::string fault;  ///< why it can have no part in a job, without a full stop; empty: it can
  NodeProbe probe;    ///< if it has no fault
};

struct NodesReport {
  std::string text;      ///< a table of the nodes, one of the pairs, and a sentence for each fault
  bool is_good = false;  ///< a job can run on all of these nodes
};

/// `udp_ports`: the value of net.ipv4.ip_local_port_range, for the hint at firewalls. Pure.
NodesReport report_on_nodes(std::span<const CheckedNode> nodes, const std::string& udp_ports);

}  // namespace llamada::launcher
