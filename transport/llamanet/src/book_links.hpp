#pragma once

#include <cstdint>
#include <memory>

#include "llamada/base/file_descriptor.hpp"
#include "llamada/base/result.hpp"
#include "llamada/links/ethernet_link.hpp"
#include "llamada/links/udp_link.hpp"
#include "llamada/llamanet/node_book.hpp"

// The two links that each rank of a job on several nodes has, and each driver, as its book says.

namespace llamada::llamanet {

/// For small frames or for bulk; `udp_bytes`: the longest datagram.
inline links::UdpOptions udp_options(bool is_bulk, std::uint32_t udp_bytes) {
  return {.datagram_bytes_max = udp_bytes, .has_trains = is_bulk};
}

/// Everything but the interface's name.
inline links::EthernetOptions ethernet_options(std::uint64_t job_number, std::uint16_t lane,
                                               std::uint32_t mtu) {
  return {.lane = lane, .group = static_cast<std::uint32_t>(job_number), .mtu = mtu};
}

/// Links on sockets that the driver has made for one endpoint. `own`: where that receives raw frames. Errors:
/// those of the links.
Result<std::unique_ptr<replication::Link>> open_small_link(const NodeBook& book, const EthernetPlace& own,
                                                           FileDescriptor socket);
Result<std::unique_ptr<replication::Link>> open_bulk_link(const NodeBook& book, FileDescriptor socket);

}  // namespace llamada::llamanet
