#pragma once

#include <cstdint>
#include <string>

#include "llamada/base/result.hpp"

// What `ip` is asked to make: in the bed's network namespace a bridge, and for each node a veth pair whose
// other end is the node's eth0. All names lie within namespaces of the bed's own.

namespace llamada::bed {

/// Runs `ip -batch` on these lines, in the network namespace `where` (a descriptor; -1: this process's).
/// Errors: unsupported (there is no `ip`, or the kernel refuses what it asks for), invalid_argument.
Status run_ip(const std::string& lines, int where = -1);

std::string bridge_lines();
/// The pair n<index> - eth0, of which the latter goes to the network namespace of process `node`.
std::string link_lines(int index, int node, int mtu);
/// In the node.
std::string node_lines(int index, int mtu);

/// Takes the node's link off the bridge: from now on frames come out at n<index>, and what is sent at
/// r<index> goes to the bridge.
std::string detach_lines(int index, int mtu);
std::string attach_lines(int index);
/// In the node and at the bridge: frames leave in the size in which they go over a wire.
std::string whole_frames_line(const std::string& interface, bool is_on);

std::string address_of_node(int index);
std::uint64_t mac_of_node(int index);
/// The lines of /etc/hosts.
std::string hosts_text(int count, const std::string& id);
std::string host_name(int index, const std::string& id);

}  // namespace llamada::bed
