#pragma once

#include <chrono>
#include <cstdint>

namespace llamada::llamanet {

/// What the drivers of two nodes found out of the links between them.
struct PairProbe {
  std::uint32_t udp_bytes = 0;              ///< the longest UDP datagram that was answered; 0: none was
  std::uint32_t ethernet_mtu = 0;           ///< of the longest raw frame that was answered; 0: none was
  std::chrono::nanoseconds clock_ahead{0};  ///< by how much the other node's clock says more than the own one
  std::chrono::nanoseconds round_trip{0};   ///< the shortest by UDP; 0: unknown
};

}  // namespace llamada::llamanet
