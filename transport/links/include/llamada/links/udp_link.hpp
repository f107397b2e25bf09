#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "llamada/base/file_descriptor.hpp"
#include "llamada/base/kept_descriptor.hpp"
#include "llamada/replication/link.hpp"

namespace llamada::links {

/// The frames that a socket is for: those of a job to one of its endpoints.
struct UdpFilter {
  std::uint32_t job = 0;  ///< as in a frame's head
  replication::EndpointNumber to = 0;
  /// And from any but these, for tests of cut networks.
  std::span<const replication::EndpointNumber> not_from{};
};

struct UdpOptions {
  /// What one datagram carries: the path's MTU without IP and UDP heads. 1,472 passes wherever Ethernet does.
  std::size_t datagram_bytes_max = 1472;
  /// For bulk: trains of datagrams leave by one call of the kernel (UDP_SEGMENT), and come so (UDP_GRO),
  /// where it can. Without it the link is for small frames: buffers of one datagram, many of which a call may
  /// take.
  bool has_trains = false;
  /// What the kernel may hold for this socket in each direction, as far as its limits allow.
  int socket_buffer_bytes = 4 << 20;
  /// Of make_socket(): the kernel drops all that does not look like such a frame, before it takes room in the
  /// buffer or wakes anybody. Where it cannot, whoever reads the frames drops them. None: all is taken.
  std::optional<UdpFilter> takes_only{};
};

/// One UDP socket as a link. Its descriptor is out of the way of the program in whose process it is
/// (KeptDescriptor).
class UdpLink final : public replication::Link {
 public:
  /// A socket for `options`, bound to this address; port 0: any free one. Errors: invalid_argument (no IP
  /// address), system.
  static Result<FileDescriptor> make_socket(const replication::Address& bound, const UdpOptions& options);
  /// A link on such a socket, which another process may have made. Errors: invalid_argument, system.
  static Result<std::unique_ptr<UdpLink>> adopt(FileDescriptor socket, const UdpOptions& options);

  /// From now on the kernel drops at this socket, whoever else reads it, all but such frames. Errors: system
  /// (it cannot: the kernel has no filters, or they are too many).
  static Status set_filter(int socket, const UdpFilter& only);

  /// Where such a socket is bound. Errors: system.
  static Result<replication::Address> address_of(int socket);
  Result<replication::Address> address() const { return address_of(descriptor()); }

  replication::LinkLimits limits() const override;
  Status meet(replication::EndpointNumber endpoint, const replication::Address& address) override;
  std::size_t send(replication::EndpointNumber to, std::span<const replication::Datagram> datagrams) override;
  std::span<const std::span<const std::byte>> receive() override;
  int descriptor() const override { return socket_.get(); }
  std::uint64_t take_unread() override;

  /// Whether trains leave by one call.
  bool sends_trains() const { return sends_trains_; }

 private:
  UdpLink(FileDescriptor socket, const UdpOptions& options);
  struct Peer {
    sockaddr_storage address{};
    socklen_t length = 0;
  };
  std::size_t send_train(const Peer& peer, std::span<const replication::Datagram> datagrams);
  std::size_t send_each(const Peer& peer, std::span<const replication::Datagram> datagrams);
  void split(std::span<const std::byte> bytes, std::size_t segment_bytes);

  KeptDescriptor socket_;
  UdpOptions options_;
  bool sends_trains_ = false;
  bool receives_trains_ = false;
  std::uint32_t unread_ = 0;  // of the socket so far; the kernel counts in 32 bits
  std::unordered_map<replication::EndpointNumber, Peer> peers_;
  std::size_t buffer_bytes_ = 0;
  std::vector<std::byte> buffers_;  // received_max of buffer_bytes_
  std::vector<std::span<const std::byte>> received_;
};

}  // namespace llamada::links
