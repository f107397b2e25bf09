#include "packet_port.hpp"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <sys/socket.h>

#include <array>
#include <cstring>

namespace llamada::bed {
namespace {

/// virtio_net_hdr of linux/virtio_net.h, which is not C++. In the machine's byte order.
struct OffloadHead {
  std::uint8_t flags = 0;
  std::uint8_t segmentation = 0;
  std::uint16_t head_bytes = 0;
  std::uint16_t segment_bytes = 0;
  std::uint16_t checksum_start = 0;
  std::uint16_t checksum_offset = 0;
};
static_assert(sizeof(OffloadHead) == 10);
constexpr std::uint8_t needs_checksum = 1;

constexpr int frames_at_once = 256;
constexpr std::size_t frame_bytes_max = 80 << 10;
constexpr int socket_bytes = 16 << 20;

Status set(int socket, int level, int option, int value, const char* what) {
  return ::setsockopt(socket, level, option, &value, sizeof value) == 0 ? Status()
                                                                        : Status(system_failure(what));
}

}  // namespace

void complete_checksum(std::span<std::byte> frame, std::size_t start, std::size_t offset) {
  if (start > frame.size() || offset > frame.size() - start || frame.size() - start - offset < 2) return;
  const auto at = [&](std::size_t i) { return std::to_integer<std::uint32_t>(frame[i]); };
  std::uint64_t sum = 0;
  for (std::size_t i = start; i < frame.size(); i += 2)
    sum += at(i) << 8 | (i + 1 < frame.size() ? at(i + 1) : 0);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  auto checksum = static_cast<std::uint16_t>(~sum);
  if (checksum == 0) checksum = 0xffff;  // to UDP, 0 means that there is none
  frame[start + offset] = static_cast<std::byte>(checksum >> 8);
  frame[start + offset + 1] = static_cast<std::byte>(checksum & 0xff);
}

Result<PacketPort> PacketPort::open(const std::string& interface) {
  PacketPort port;
  // Of protocol 0, it takes nothing before it is bound.
  port.socket_ = FileDescriptor(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!port.socket_) return system_failure("a packet socket");
  const int socket = port.socket_.get();
  if (auto done = set(socket, SOL_PACKET, PACKET_VNET_HDR, 1, "PACKET_VNET_HDR"); !done)
    return propagate(done);
  if (auto done = set(socket, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1, "PACKET_IGNORE_OUTGOING"); !done)
    return propagate(done);
  if (!set(socket, SOL_SOCKET, SO_RCVBUFFORCE, socket_bytes, ""))
    (void)set(socket, SOL_SOCKET, SO_RCVBUF, socket_bytes, "");
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  address.sll_ifindex = static_cast<int>(::if_nametoindex(interface.c_str()));
  if (address.sll_ifindex == 0) return system_failure("the interface " + interface);
  if (::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return system_failure("bind to the interface " + interface);
  port.buffer_.resize(frame_bytes_max);
  return port;
}

void PacketPort::receive(const std::function<void(std::span<std::byte>)>& take) {
  for (int i = 0; i < frames_at_once; ++i) {
    const ssize_t got = ::recv(socket_.get(), buffer_.data(), buffer_.size(), 0);
    if (got < static_cast<ssize_t>(sizeof(OffloadHead))) return;
    OffloadHead head;
    std::memcpy(&head, buffer_.data(), sizeof head);
    const auto frame = std::span(buffer_).first(static_cast<std::size_t>(got)).subspan(sizeof head);
    if ((head.flags & needs_checksum) != 0)
      complete_checksum(frame, head.checksum_start, head.checksum_offset);
    take(frame);
  }
}

void PacketPort::send(std::span<const std::byte> frame) const {
  OffloadHead head;
  std::array<iovec, 2> pieces{{{&head, sizeof head}, {const_cast<std::byte*>(frame.data()), frame.size()}}};
  msghdr message{};
  message.msg_iov = pieces.data();
  message.msg_iovlen = pieces.size();
  (void)!::sendmsg(socket_.get(), &message, MSG_DONTWAIT);
}

std::uint64_t PacketPort::take_overruns() const {
  tpacket_stats statistics{};
  socklen_t size = sizeof statistics;
  if (::getsockopt(socket_.get(), SOL_PACKET, PACKET_STATISTICS, &statistics, &size) != 0) return 0;
  return statistics.tp_drops;
}

}  // namespace llamada::bed
