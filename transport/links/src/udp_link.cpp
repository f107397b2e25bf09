#include "llamada/links/udp_link.hpp"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/sock_diag.h>
#include <netinet/udp.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "llamada/base/check.hpp"
#include "pieces.hpp"

// Older headers lack them.
#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif

namespace llamada::links {
namespace {

using replication::Address;
using replication::Datagram;
using replication::EndpointNumber;

/// The kernel takes no more in one call: UDP_MAX_SEGMENTS of older kernels, and the largest IP packet.
constexpr std::size_t train_max = 64;
constexpr std::size_t train_bytes_max = 65000;
/// Datagrams of one sendmmsg.
constexpr std::size_t sent_at_once_max = 32;
/// Messages of one recvmmsg.
constexpr std::size_t received_max = 32;
constexpr std::size_t received_trains_max = 8;
constexpr std::size_t train_buffer_bytes = 65536;

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;
  sockaddr* pointer() { return reinterpret_cast<sockaddr*>(&storage); }
};

Result<SocketAddress> to_socket_address(const Address& address) {
  SocketAddress made;
  if (address.family == Address::Family::ipv4) {
    auto& ipv4 = reinterpret_cast<sockaddr_in&>(made.storage);
    ipv4.sin_family = AF_INET;
    ipv4.sin_port = htons(address.port);
    std::memcpy(&ipv4.sin_addr, address.ip.data(), sizeof(ipv4.sin_addr));
    made.length = sizeof(ipv4);
    return made;
  }
  if (address.family == Address::Family::ipv6) {
    auto& ipv6 = reinterpret_cast<sockaddr_in6&>(made.storage);
    ipv6.sin6_family = AF_INET6;
    ipv6.sin6_port = htons(address.port);
    std::memcpy(&ipv6.sin6_addr, address.ip.data(), sizeof(ipv6.sin6_addr));
    made.length = sizeof(ipv6);
    return made;
  }
  return failure(Errc::invalid_argument, "a UDP link needs an IPv4 or IPv6 address");
}

/// Two pieces a datagram.
std::size_t put_pieces(const Datagram& datagram, iovec* pieces) {
  pieces[0] = piece_of(datagram.head);
  if (datagram.tail.empty()) return 1;
  pieces[1] = piece_of(datagram.tail);
  return 2;
}

/// How many datagrams, from the first on, can be one train: all as long as the first, but the last, which may
/// be shorter.
std::size_t train_length(std::span<const Datagram> datagrams) {
  const std::size_t each = datagrams.front().size_bytes();
  std::size_t bytes = 0, count = 0;
  for (const Datagram& datagram : datagrams.first(std::min(datagrams.size(), train_max))) {
    const std::size_t size_bytes = datagram.size_bytes();
    bytes += size_bytes;
    if (size_bytes > each || bytes > train_bytes_max) break;
    ++count;
    if (size_bytes < each) break;
  }
  return count;
}

/// Whether a datagram that this call did not take is lost, as on any network, rather than to be offered
/// again.
bool is_loss(int error) {
  return error != EAGAIN && error != EWOULDBLOCK && error != EINTR && error != ENOBUFS;
}

void set_buffers(int socket, int bytes) {
  // Beyond the system's limit they are what it allows; a link may lose.
  (void)::setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
  (void)::setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
}

// What a filter of a UDP socket loads is in network byte order, and begins with the head of UDP.
constexpr std::uint32_t udp_head_bytes = 8;
constexpr std::uint32_t in_frame(std::size_t offset) {
  return udp_head_bytes + static_cast<std::uint32_t>(offset);
}
std::uint32_t as_loaded(std::uint32_t value) { return __builtin_bswap32(value); }
static_assert(std::endian::native == std::endian::little);

/// Datagrams that the kernel has dropped at this socket so far.
std::uint32_t dropped_at(int socket) {
  std::array<std::uint32_t, SK_MEMINFO_VARS> counts{};
  socklen_t length = sizeof(counts);
  if (::getsockopt(socket, SOL_SOCKET, SO_MEMINFO, counts.data(), &length) != 0) return 0;
  return counts[SK_MEMINFO_DROPS];
}

}  // namespace

Result<FileDescriptor> UdpLink::make_socket(const Address& bound, const UdpOptions& options) {
  auto address = to_socket_address(bound);
  if (!address) return propagate(address);
  FileDescriptor socket(::socket(address->storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return system_failure("socket for a UDP link");
  set_buffers(socket.get(), options.socket_buffer_bytes);
  // A socket that cannot have the filter does without.
  if (options.takes_only) (void)set_filter(socket.get(), *options.takes_only);
  if (::bind(socket.get(), address->pointer(), address->length) != 0)
    return system_failure("bind the socket of a UDP link");
  return socket;
}

Status UdpLink::set_filter(int socket, const UdpFilter& only) {
  using replication::FrameHead;
  const std::uint32_t mark = __builtin_bswap16(replication::frame_mark);
  const sock_filter none = BPF_STMT(BPF_RET | BPF_K, 0);
  std::vector<sock_filter> program{BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0)};
  program.push_back(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, in_frame(replication::frame_head_bytes), 1, 0));
  program.push_back(none);
  const auto require = [&](const sock_filter& load, std::uint32_t value) {
    program.insert(program.end(), {load, BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0), none});
  };
  require(BPF_STMT(BPF_LD | BPF_H | BPF_ABS, in_frame(offsetof(FrameHead, mark))), mark);
  require(BPF_STMT(BPF_LD | BPF_B | BPF_ABS, in_frame(offsetof(FrameHead, version))),
          replication::frame_version);
  require(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, in_frame(offsetof(FrameHead, job))), as_loaded(only.job));
  require(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, in_frame(offsetof(FrameHead, to))), as_loaded(only.to));
  if (!only.not_from.empty())
    program.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, in_frame(offsetof(FrameHead, from))));
  for (const EndpointNumber from : only.not_from) {
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, as_loaded(from), 0, 1));
    program.push_back(none);
  }
  program.push_back(BPF_STMT(BPF_RET | BPF_K, 0xffffffff));
  if (program.size() > BPF_MAXINSNS)
    return failure(Errc::out_of_resources, "the kernel has no room for a filter of {} instructions",
                   program.size());
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  if (::setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter)) == 0) return {};
  return system_failure("SO_ATTACH_FILTER");
}

Result<std::unique_ptr<UdpLink>> UdpLink::adopt(FileDescriptor socket, const UdpOptions& options) {
  if (options.datagram_bytes_max < 256 || options.datagram_bytes_max > train_bytes_max)
    return failure(Errc::invalid_argument, "a UDP link carries datagrams of 256 to {} bytes, not {}",
                   train_bytes_max, options.datagram_bytes_max);
  if (!socket) return failure(Errc::invalid_argument, "a UDP link needs a socket");
  return std::unique_ptr<UdpLink>(new UdpLink(std::move(socket), options));
}

UdpLink::UdpLink(FileDescriptor socket, const UdpOptions& options)
    : socket_(std::move(socket)), options_(options), unread_(dropped_at(socket_.get())) {
  if (options_.has_trains) {
    const int on = 1, whole = 0;
    receives_trains_ = ::setsockopt(socket_.get(), IPPROTO_UDP, UDP_GRO, &on, sizeof(on)) == 0;
    // Setting no size for all says whether the kernel knows the option.
    sends_trains_ = ::setsockopt(socket_.get(), IPPROTO_UDP, UDP_SEGMENT, &whole, sizeof(whole)) == 0;
  }
  // One byte more, so that a datagram that is too long is seen to be.
  buffer_bytes_ = receives_trains_ ? train_buffer_bytes : options_.datagram_bytes_max + 1;
  const std::size_t count = receives_trains_ ? received_trains_max : received_max;
  buffers_.resize(count * buffer_bytes_);
  received_.reserve(count * (receives_trains_ ? train_max : 1));
}

Result<Address> UdpLink::address_of(int socket) {
  SocketAddress bound;
  bound.length = sizeof(bound.storage);
  if (::getsockname(socket, bound.pointer(), &bound.length) != 0)
    return system_failure("getsockname of a UDP link");
  Address address;
  if (bound.storage.ss_family == AF_INET) {
    const auto& ipv4 = reinterpret_cast<const sockaddr_in&>(bound.storage);
    address.family = Address::Family::ipv4;
    address.port = ntohs(ipv4.sin_port);
    std::memcpy(address.ip.data(), &ipv4.sin_addr, sizeof(ipv4.sin_addr));
  } else {
    const auto& ipv6 = reinterpret_cast<const sockaddr_in6&>(bound.storage);
    address.family = Address::Family::ipv6;
    address.port = ntohs(ipv6.sin6_port);
    std::memcpy(address.ip.data(), &ipv6.sin6_addr, sizeof(ipv6.sin6_addr));
  }
  return address;
}

replication::LinkLimits UdpLink::limits() const {
  return {options_.datagram_bytes_max, options_.has_trains ? train_max : 1};
}

Status UdpLink::meet(EndpointNumber endpoint, const Address& address) {
  const auto to = to_socket_address(address);
  if (!to) return failure(Errc::invalid_argument, "endpoint {} has no IP address", endpoint);
  peers_[endpoint] = {to->storage, to->length};
  return {};
}

std::size_t UdpLink::send(EndpointNumber to, std::span<const Datagram> datagrams) {
  const auto met = peers_.find(to);
  if (met == peers_.end()) return datagrams.size();
  const Peer& peer = met->second;
  std::size_t sent = 0;
  while (sent < datagrams.size()) {
    const auto rest = datagrams.subspan(sent);
    const std::size_t length = sends_trains_ ? train_length(rest) : 1;
    const bool is_train = length > 1;
    const std::size_t taken = is_train ? send_train(peer, rest.first(length)) : send_each(peer, rest);
    // Trains may just have been given up.
    if (taken == 0 && (!is_train || sends_trains_)) break;
    sent += taken;
  }
  return sent;
}

std::size_t UdpLink::send_train(const Peer& peer, std::span<const Datagram> datagrams) {
  std::array<iovec, 2 * train_max> pieces;
  std::size_t count = 0;
  for (const Datagram& datagram : datagrams) count += put_pieces(datagram, pieces.data() + count);
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(std::uint16_t))> control{};
  msghdr message{};
  message.msg_name = const_cast<sockaddr_storage*>(&peer.address);
  message.msg_namelen = peer.length;
  message.msg_iov = pieces.data();
  message.msg_iovlen = count;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = IPPROTO_UDP;
  head->cmsg_type = UDP_SEGMENT;
  head->cmsg_len = CMSG_LEN(sizeof(std::uint16_t));
  const auto each = static_cast<std::uint16_t>(datagrams.front().size_bytes());
  std::memcpy(CMSG_DATA(head), &each, sizeof(each));
  if (::sendmsg(socket_.get(), &message, MSG_DONTWAIT) >= 0) return datagrams.size();
  // A device without checksum offload cannot divide them: EIO. A path with a smaller MTU: EINVAL, EMSGSIZE.
  if (errno == EIO || errno == EINVAL || errno == EMSGSIZE || errno == EOPNOTSUPP) {
    sends_trains_ = false;
    return 0;
  }
  return is_loss(errno) ? datagrams.size() : 0;
}

std::size_t UdpLink::send_each(const Peer& peer, std::span<const Datagram> datagrams) {
  datagrams = datagrams.first(std::min(datagrams.size(), sent_at_once_max));
  std::array<iovec, 2 * sent_at_once_max> pieces;
  std::array<mmsghdr, sent_at_once_max> messages;
  std::size_t count = 0;
  for (std::size_t i = 0; i < datagrams.size(); ++i) {
    msghdr& message = messages[i].msg_hdr;
    message = {};
    message.msg_name = const_cast<sockaddr_storage*>(&peer.address);
    message.msg_namelen = peer.length;
    message.msg_iov = pieces.data() + count;
    message.msg_iovlen = put_pieces(datagrams[i], pieces.data() + count);
    count += message.msg_iovlen;
  }
  const int sent =
      ::sendmmsg(socket_.get(), messages.data(), static_cast<unsigned>(datagrams.size()), MSG_DONTWAIT);
  if (sent > 0) return static_cast<std::size_t>(sent);
  return is_loss(errno) ? 1 : 0;
}

std::uint64_t UdpLink::take_unread() {
  const std::uint32_t before = std::exchange(unread_, dropped_at(socket_.get()));
  return unread_ - before;
}

void UdpLink::split(std::span<const std::byte> bytes, std::size_t segment_bytes) {
  for (; !bytes.empty() && received_.size() < received_.capacity();
       bytes = bytes.subspan(std::min(segment_bytes, bytes.size())))
    received_.push_back(bytes.first(std::min(segment_bytes, bytes.size())));
}

std::span<const std::span<const std::byte>> UdpLink::receive() {
  received_.clear();
  std::array<iovec, received_max> pieces;
  std::array<mmsghdr, received_max> messages;
  alignas(cmsghdr) std::array<std::array<char, CMSG_SPACE(sizeof(int))>, received_trains_max> controls;
  const std::size_t count = buffers_.size() / buffer_bytes_;
  for (std::size_t i = 0; i < count; ++i) {
    pieces[i] = {buffers_.data() + i * buffer_bytes_, buffer_bytes_};
    msghdr& message = messages[i].msg_hdr;
    message = {};
    message.msg_iov = &pieces[i];
    message.msg_iovlen = 1;
    if (!receives_trains_) continue;
    message.msg_control = controls[i].data();
    message.msg_controllen = controls[i].size();
  }
  const int come =
      ::recvmmsg(socket_.get(), messages.data(), static_cast<unsigned>(count), MSG_DONTWAIT, nullptr);
  for (int i = 0; i < come; ++i) {
    const std::span<const std::byte> bytes(static_cast<const std::byte*>(pieces[i].iov_base),
                                           messages[i].msg_len);
    msghdr& message = messages[i].msg_hdr;
    std::size_t segment_bytes = bytes.size();
    for (cmsghdr* head = CMSG_FIRSTHDR(&message); head != nullptr; head = CMSG_NXTHDR(&message, head)) {
      if (head->cmsg_level != IPPROTO_UDP || head->cmsg_type != UDP_GRO) continue;
      int each = 0;
      std::memcpy(&each, CMSG_DATA(head), sizeof(each));
      if (each > 0) segment_bytes = static_cast<std::size_t>(each);
    }
    // One that is longer than a datagram of this link was cut off by the kernel: nobody here has sent it.
    if ((message.msg_flags & MSG_TRUNC) == 0 && segment_bytes <= options_.datagram_bytes_max)
      split(bytes, segment_bytes);
  }
  return received_;
}

}  // namespace llamada::links
