#pragma once

#include <cstdint>
#include <string>
#include <vector>

// By what the nodes of a job reach each other: what the user wants, what the nodes have found out, and what
// the coordinator chooses for all of them.

namespace llamada::launcher {

/// mpirun --link
enum class LinkWish : std::uint32_t { automatic = 0, udp = 1, ethernet = 2 };

/// What one node has found out of the links to another one.
struct PairProbe {
  std::uint32_t udp_bytes = 0;      ///< the longest UDP datagram that came back; 0: none did
  std::uint32_t ethernet_mtu = 0;   ///< of the longest raw frame that came back; 0: none did
  std::uint64_t round_trip_ns = 0;  ///< the shortest by UDP; 0: unknown
  std::int64_t clock_ahead_ns = 0;  ///< by how much the other node's clock says more
};

/// What one node has found out of all its links.
struct NodeProbe {
  std::string why_no_ethernet;   ///< why it has no raw Ethernet, if it was to try; without a full stop
  std::vector<PairProbe> pairs;  ///< by node; that of the own one says nothing
};

/// The same for all nodes of a job.
struct LinkChoice {
  std::uint32_t udp_bytes = 1472;  ///< of a datagram
  std::uint32_t ethernet_mtu = 0;  ///< of a raw frame, by which small messages go; 0: all go by UDP
};

}  // namespace llamada::launcher
