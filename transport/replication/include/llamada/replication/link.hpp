#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "llamada/base/result.hpp"
#include "llamada/replication/frame.hpp"

namespace llamada::replication {

/// Where an endpoint receives, in the terms of one kind of link.
struct Address {
  enum class Family : std::uint8_t { none, ipv4, ipv6, fake, ethernet };
  Family family = Family::none;
  std::array<std::uint8_t, 16>
      ip{};                ///< of IPv4 the first four; of Ethernet the six bytes of the MAC address
  std::uint16_t port = 0;  ///< host byte order; of Ethernet the lane
  bool operator==(const Address&) const = default;
};

struct LinkLimits {
  std::size_t datagram_bytes_max = 0;  ///< what one datagram may carry
  std::size_t train_max = 1;           ///< datagrams of one send() that leave at once if equal in size
};

/// Datagrams to endpoints. A link may lose, double, damage and reorder them, and it never waits. It knows
/// nothing of frames, sessions and keys. One conformance suite for all:
/// tests/conformance/link_conformance.hpp.
///
/// Threads: one.
class Link {
 public:
  virtual ~Link() = default;
  virtual LinkLimits limits() const = 0;
  /// Where an endpoint receives; again when it has moved. Errors: invalid_argument for an address of another
  /// kind of link; out_of_resources.
  virtual Status meet(EndpointNumber endpoint, const Address& address) = 0;
  /// Sends datagrams of at most datagram_bytes_max and gives how many of them, from the first on, are on
  /// their way as far as this machine can tell. The rest may be offered again later. Those for an endpoint
  /// that was never met are taken and dropped. What they borrow may change as soon as this returns.
  virtual std::size_t send(EndpointNumber to, std::span<const Datagram> datagrams) = 0;
  /// What has come, at most some dozens at a call; empty: nothing is there now. In place until the next call.
  virtual std::span<const std::span<const std::byte>> receive() = 0;
  /// To sleep on until something comes; -1: there is none.
  virtual int descriptor() const = 0;
  /// How many datagrams for this link the machine has dropped since the last call, before receive() could
  /// see them: strangers' ones, or there was no room. As far as it says.
  virtual std::uint64_t take_unread() { return 0; }
};

}  // namespace llamada::replication
