#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "llamada/base/file_descriptor.hpp"
#include "llamada/base/kept_descriptor.hpp"
#include "llamada/replication/link.hpp"

namespace llamada::links {

/// Of the frames that this link sends and takes; one of the two for experiments (IEEE 802, "Local
/// Experimental Ethertype 1").
inline constexpr std::uint16_t ethernet_type = 0x88b5;

struct EthernetOptions {
  std::string interface;    ///< "eth0"
  std::uint16_t lane = 0;   ///< tells the links of a group apart
  std::uint32_t group = 0;  ///< links reach each other only within a group, such as a job
  /// The most that a frame carries behind the Ethernet head. 0: what the interface allows. More than that
  /// cannot be sent.
  std::size_t mtu = 0;
  /// So many datagrams at least may have come that were not taken yet; each has room for the MTU.
  std::size_t datagrams_max = 512;
};

/// A network interface of this host.
struct NetworkInterface {
  std::string name;
  std::array<std::uint8_t, 6> mac{};
  std::size_t mtu = 0;
  bool is_loopback = false;
  bool is_ethernet = false;
};
/// The one that has this IP address. Errors: not_found, system.
Result<NetworkInterface> interface_with(const replication::Address& ip);

/// A larger MTU of an interface is not used: slots of a ring would take 64 KiB each, whatever they hold.
inline constexpr std::size_t ethernet_mtu_max = 9000;
/// What a frame's own head takes of the MTU.
inline constexpr std::size_t ethernet_own_head_bytes = 8;

/// Datagrams as frames of their own right on one Ethernet, without IP: half of what UDP takes for small ones,
/// and only to hosts of the same segment. The kernel puts what comes into memory that this process maps
/// (packet(7), TPACKET_V2), so a look at it is no call. A datagram is as long as the MTU allows.
///
/// A frame: destination and source (6 bytes each), ethernet_type, lane u16, size of the datagram u16, group
/// u32 (all in network byte order), the datagram.
class EthernetLink final : public replication::Link {
 public:
  /// A socket with its ring and a filter for the lane, which nobody can take away any more. Needs the right
  /// to raw sockets (CAP_NET_RAW), which adopt() does not. Errors: invalid_argument (no such interface, or it
  /// is no Ethernet), system.
  static Result<FileDescriptor> make_socket(const EthernetOptions& options);
  /// A link on such a socket, which another process may have made with the same options, but for the name of
  /// the interface, which may be empty here. It must not have been adopted before: nobody could tell how far
  /// its ring was read. `at`: where its ring is to be mapped; null: anywhere. Errors: invalid_argument,
  /// system.
  static Result<std::unique_ptr<EthernetLink>> adopt(FileDescriptor socket, const EthernetOptions& options,
                                                     void* at = nullptr);
  EthernetLink(const EthernetLink&) = delete;
  EthernetLink& operator=(const EthernetLink&) = delete;
  ~EthernetLink() override;

  /// The interface's MAC address and the lane.
  replication::Address address() const;

  replication::LinkLimits limits() const override { return {datagram_bytes_max_, 1}; }
  Status meet(replication::EndpointNumber endpoint, const replication::Address& address) override;
  std::size_t send(replication::EndpointNumber to, std::span<const replication::Datagram> datagrams) override;
  std::span<const std::span<const std::byte>> receive() override;
  int descriptor() const override { return socket_.get(); }

 private:
  static constexpr std::size_t head_bytes = 14 + ethernet_own_head_bytes;
  using Mac = std::array<std::uint8_t, 6>;
  using Head = std::array<std::byte, head_bytes>;

  explicit EthernetLink(FileDescriptor socket) : socket_(std::move(socket)) {}
  void give_back();
  void take(std::span<const std::byte> frame);

  KeptDescriptor socket_;
  Mac mac_{};
  std::uint16_t lane_ = 0;
  std::uint32_t group_ = 0;
  std::size_t datagram_bytes_max_ = 0;
  std::byte* ring_ = nullptr;
  std::size_t slot_bytes_ = 0, slot_count_ = 0;
  std::size_t next_ = 0;   // the slot that the kernel fills next
  std::size_t taken_ = 0;  // before it: in use until the next receive()
  std::unordered_map<replication::EndpointNumber, Head> peers_;
  std::vector<std::span<const std::byte>> received_;
};

}  // namespace llamada::links
