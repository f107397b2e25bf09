#include "llamada/links/ethernet_link.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>

#include "llamada/base/page.hpp"
#include "llamada/base/rounding.hpp"
#include "pieces.hpp"

namespace llamada::links {
namespace {

using replication::Address;
using replication::Datagram;
using replication::EndpointNumber;

/// Frames of one sendmmsg.
constexpr std::size_t frames_sent_at_once_max = 32;
/// Frames of one receive().
constexpr std::size_t frames_received_max = 32;
/// Shorter ones are not worth a link.
constexpr std::size_t mtu_min = 576;
/// So that a ring of large frames does not take more memory than one of small ones four times over.
constexpr std::size_t ring_bytes_max = 4 << 20;
constexpr std::size_t lane_offset = 14, size_offset = 16, group_offset = 18;

std::uint16_t read_u16(const std::byte* at) {
  std::uint16_t value = 0;
  std::memcpy(&value, at, sizeof(value));
  return ntohs(value);
}
void write_u16(std::byte* at, std::size_t value) {
  const std::uint16_t swapped = htons(static_cast<std::uint16_t>(value));
  std::memcpy(at, &swapped, sizeof(swapped));
}

void write_u32(std::byte* at, std::uint32_t value) {
  const std::uint32_t swapped = htonl(value);
  std::memcpy(at, &swapped, sizeof(swapped));
}

struct Interface {
  int index = 0;
  std::size_t mtu = 0;
};
/// `mtu_wanted`: as in EthernetOptions.
Result<Interface> find_interface(int socket, const std::string& name, std::size_t mtu_wanted) {
  ifreq question{};
  if (name.empty() || name.size() >= sizeof(question.ifr_name))
    return failure(Errc::invalid_argument, "'{}' is no name of a network interface", name);
  std::memcpy(question.ifr_name, name.data(), name.size());
  if (::ioctl(socket, SIOCGIFINDEX, &question) != 0)
    return failure(Errc::invalid_argument, "this host has no network interface '{}'", name);
  Interface found{.index = question.ifr_ifindex};
  if (::ioctl(socket, SIOCGIFHWADDR, &question) != 0) return system_failure("SIOCGIFHWADDR of " + name);
  const auto kind = question.ifr_hwaddr.sa_family;
  if (kind != ARPHRD_ETHER && kind != ARPHRD_LOOPBACK)
    return failure(Errc::invalid_argument, "the network interface '{}' is no Ethernet", name);
  if (::ioctl(socket, SIOCGIFMTU, &question) != 0) return system_failure("SIOCGIFMTU of " + name);
  found.mtu = std::min(static_cast<std::size_t>(question.ifr_mtu), ethernet_mtu_max);
  if (mtu_wanted > found.mtu)
    return failure(Errc::invalid_argument, "the network interface '{}' has an MTU of {}, and not {}", name,
                   found.mtu, mtu_wanted);
  if (mtu_wanted != 0) found.mtu = mtu_wanted;
  if (found.mtu < mtu_min)
    return failure(Errc::invalid_argument, "an MTU of {} is too small for an Ethernet link", found.mtu);
  return found;
}

/// Where a socket of packet(7) is bound.
Result<sockaddr_ll> bound_address(int socket) {
  sockaddr_ll bound{};
  socklen_t length = sizeof(bound);
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&bound), &length) != 0)
    return system_failure("getsockname of an Ethernet link");
  if (bound.sll_family != AF_PACKET)
    return failure(Errc::invalid_argument, "the socket of an Ethernet link is not one for raw frames");
  return bound;
}

Result<std::string> name_of_interface(int socket, int index) {
  ifreq question{};
  question.ifr_ifindex = index;
  if (::ioctl(socket, SIOCGIFNAME, &question) != 0) return system_failure("SIOCGIFNAME");
  return std::string(question.ifr_name);
}

bool has_ip(const sockaddr* at, const Address& ip) {
  if (at == nullptr) return false;
  if (at->sa_family == AF_INET && ip.family == Address::Family::ipv4)
    return std::memcmp(&reinterpret_cast<const sockaddr_in*>(at)->sin_addr, ip.ip.data(), 4) == 0;
  if (at->sa_family == AF_INET6 && ip.family == Address::Family::ipv6)
    return std::memcmp(&reinterpret_cast<const sockaddr_in6*>(at)->sin6_addr, ip.ip.data(), 16) == 0;
  return false;
}

/// The same for who makes the socket and for who adopts it.
struct Ring {
  Ring(const Interface& interface, std::size_t slots_min) {
    frame_bytes_max = interface.mtu + ETH_HLEN;
    // The kernel aligns the network head, which the Ethernet head precedes, to 16.
    slot_bytes = std::bit_ceil(TPACKET_ALIGN(TPACKET2_HDRLEN) + 16 + frame_bytes_max);
    block_bytes = std::max(slot_bytes, page_bytes);
    const std::size_t slots = std::clamp<std::size_t>(slots_min, 2, ring_bytes_max / slot_bytes);
    block_count = divided_up(slots * slot_bytes, block_bytes);
  }
  std::size_t bytes() const { return block_bytes * block_count; }
  std::size_t slot_count() const { return bytes() / slot_bytes; }
  tpacket_req request() const {
    return {static_cast<unsigned>(block_bytes), static_cast<unsigned>(block_count),
            static_cast<unsigned>(slot_bytes), static_cast<unsigned>(slot_count())};
  }
  std::size_t frame_bytes_max, slot_bytes, block_bytes, block_count;
};

template <typename Value>
Status set(int socket, int level, int option, const Value& value, const char* what) {
  if (::setsockopt(socket, level, option, &value, sizeof(value)) == 0) return {};
  return system_failure(what);
}

/// Takes frames of the type, of this group and of this lane; for good. A frame that is too short for these is
/// dropped.
Status filter_lane(int socket, std::uint32_t group, std::uint16_t lane) {
  const sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_H | BPF_ABS, ETH_HLEN - 2),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ethernet_type, 0, 5),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, group_offset),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, group, 0, 3),
      BPF_STMT(BPF_LD | BPF_H | BPF_ABS, lane_offset),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, lane, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, 0xffffffff),
      BPF_STMT(BPF_RET | BPF_K, 0),
  };
  const sock_fprog filter{static_cast<unsigned short>(std::size(program)), const_cast<sock_filter*>(program)};
  if (auto status = set(socket, SOL_SOCKET, SO_ATTACH_FILTER, filter, "SO_ATTACH_FILTER"); !status)
    return status;
  return set(socket, SOL_SOCKET, SO_LOCK_FILTER, 1, "SO_LOCK_FILTER");
}

/// From the interface on, frames that go out as well; what this host sends is not taken.
Status prepare(int socket, const Interface& interface, const EthernetOptions& options) {
  if (auto status = filter_lane(socket, options.group, options.lane); !status) return status;
  const int version = TPACKET_V2;
  if (auto status = set(socket, SOL_PACKET, PACKET_VERSION, version, "PACKET_VERSION"); !status)
    return status;
  if (auto status = set(socket, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1, "PACKET_IGNORE_OUTGOING"); !status)
    return status;
  // Straight to the driver: no queue of the interface holds small frames back. Not every device can.
  const int bypass = 1;
  (void)::setsockopt(socket, SOL_PACKET, PACKET_QDISC_BYPASS, &bypass, sizeof(bypass));
  const tpacket_req ring = Ring(interface, options.datagrams_max).request();
  if (auto status = set(socket, SOL_PACKET, PACKET_RX_RING, ring, "PACKET_RX_RING"); !status) return status;
  sockaddr_ll bound{};
  bound.sll_family = AF_PACKET;
  bound.sll_protocol = htons(ethernet_type);
  bound.sll_ifindex = interface.index;
  if (::bind(socket, reinterpret_cast<const sockaddr*>(&bound), sizeof(bound)) != 0)
    return system_failure("bind the socket of an Ethernet link");
  return {};
}

/// The state of a slot of the ring, which the kernel and this process hand over to each other.
std::atomic_ref<std::uint32_t> status_of(std::byte* slot) {
  return std::atomic_ref<std::uint32_t>(reinterpret_cast<tpacket2_hdr*>(slot)->tp_status);
}

}  // namespace

Result<NetworkInterface> interface_with(const Address& ip) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return system_failure("getifaddrs");
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, ::freeifaddrs);
  const ifaddrs* each = list;
  while (each != nullptr && !has_ip(each->ifa_addr, ip)) each = each->ifa_next;
  if (each == nullptr) return failure(Errc::not_found, "no network interface of this host has that address");
  NetworkInterface found{.name = each->ifa_name, .is_loopback = (each->ifa_flags & IFF_LOOPBACK) != 0};
  const FileDescriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket) return system_failure("socket");
  ifreq question{};
  std::memcpy(question.ifr_name, found.name.data(),
              std::min(found.name.size(), sizeof(question.ifr_name) - 1));
  if (::ioctl(socket.get(), SIOCGIFMTU, &question) != 0) return system_failure("SIOCGIFMTU of " + found.name);
  found.mtu = static_cast<std::size_t>(question.ifr_mtu);
  if (::ioctl(socket.get(), SIOCGIFHWADDR, &question) != 0)
    return system_failure("SIOCGIFHWADDR of " + found.name);
  found.is_ethernet = question.ifr_hwaddr.sa_family == ARPHRD_ETHER;
  std::memcpy(found.mac.data(), question.ifr_hwaddr.sa_data, found.mac.size());
  return found;
}

Result<FileDescriptor> EthernetLink::make_socket(const EthernetOptions& options) {
  // Of protocol 0 until it is bound: nothing comes before the filter is there.
  FileDescriptor socket(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return system_failure("a raw socket for an Ethernet link (it needs CAP_NET_RAW)");
  auto interface = find_interface(socket.get(), options.interface, options.mtu);
  if (!interface) return propagate(interface);
  if (auto status = prepare(socket.get(), *interface, options); !status) return propagate(status);
  return socket;
}

Result<std::unique_ptr<EthernetLink>> EthernetLink::adopt(FileDescriptor socket,
                                                          const EthernetOptions& options, void* at) {
  if (!socket) return failure(Errc::invalid_argument, "an Ethernet link needs a socket");
  auto bound = bound_address(socket.get());
  if (!bound) return propagate(bound);
  auto name = name_of_interface(socket.get(), bound->sll_ifindex);
  if (!name) return propagate(name);
  if (!options.interface.empty() && options.interface != *name)
    return failure(Errc::invalid_argument, "the socket of an Ethernet link is on '{}' and not on '{}'", *name,
                   options.interface);
  auto interface = find_interface(socket.get(), *name, options.mtu);
  if (!interface) return propagate(interface);
  const Ring ring(*interface, options.datagrams_max);
  void* const mapped = ::mmap(at, ring.bytes(), PROT_READ | PROT_WRITE,
                              MAP_SHARED | (at != nullptr ? MAP_FIXED_NOREPLACE : 0), socket.get(), 0);
  if (mapped == MAP_FAILED) return system_failure("map the ring of an Ethernet link");
  std::unique_ptr<EthernetLink> link(new EthernetLink(std::move(socket)));
  link->ring_ = static_cast<std::byte*>(mapped);
  link->slot_bytes_ = ring.slot_bytes;
  link->slot_count_ = ring.slot_count();
  link->datagram_bytes_max_ = ring.frame_bytes_max - head_bytes;
  link->lane_ = options.lane;
  link->group_ = options.group;
  std::copy_n(bound->sll_addr, link->mac_.size(), link->mac_.begin());
  link->received_.reserve(frames_received_max);
  return link;
}

EthernetLink::~EthernetLink() {
  if (ring_ != nullptr) ::munmap(ring_, slot_bytes_ * slot_count_);
}

Address EthernetLink::address() const {
  Address address{.family = Address::Family::ethernet, .port = lane_};
  std::ranges::copy(mac_, address.ip.begin());
  return address;
}

Status EthernetLink::meet(EndpointNumber endpoint, const Address& address) {
  if (address.family != Address::Family::ethernet)
    return failure(Errc::invalid_argument, "endpoint {} has no Ethernet address", endpoint);
  Head& head = peers_[endpoint];
  std::memcpy(head.data(), address.ip.data(), mac_.size());
  std::memcpy(head.data() + mac_.size(), mac_.data(), mac_.size());
  write_u16(head.data() + ETH_HLEN - 2, ethernet_type);
  write_u16(head.data() + lane_offset, address.port);
  write_u32(head.data() + group_offset, group_);
  return {};
}

std::size_t EthernetLink::send(EndpointNumber to, std::span<const Datagram> datagrams) {
  const auto met = peers_.find(to);
  if (met == peers_.end()) return datagrams.size();
  std::size_t sent = 0;
  while (sent < datagrams.size()) {
    const auto some = datagrams.subspan(sent, std::min(datagrams.size() - sent, frames_sent_at_once_max));
    std::array<Head, frames_sent_at_once_max> heads;
    std::array<std::array<iovec, 3>, frames_sent_at_once_max> pieces;
    std::array<mmsghdr, frames_sent_at_once_max> messages;
    for (std::size_t i = 0; i < some.size(); ++i) {
      heads[i] = met->second;
      write_u16(heads[i].data() + size_offset, some[i].size_bytes());
      pieces[i] = {piece_of(heads[i]), piece_of(some[i].head), piece_of(some[i].tail)};
      messages[i] = {};
      messages[i].msg_hdr.msg_iov = pieces[i].data();
      messages[i].msg_hdr.msg_iovlen = some[i].tail.empty() ? 2 : 3;
    }
    const int taken =
        ::sendmmsg(socket_.get(), messages.data(), static_cast<unsigned>(some.size()), MSG_DONTWAIT);
    if (taken > 0) {
      sent += static_cast<std::size_t>(taken);
      continue;
    }
    // The interface is busy: later. Else this one is lost, as on any network.
    if (errno == EAGAIN || errno == ENOBUFS || errno == EINTR) break;
    ++sent;
  }
  return sent;
}

/// Slots whose datagrams were read.
void EthernetLink::give_back() {
  for (; taken_ > 0; --taken_) {
    std::byte* const slot = ring_ + (next_ + slot_count_ - taken_) % slot_count_ * slot_bytes_;
    status_of(slot).store(TP_STATUS_KERNEL, std::memory_order_release);
  }
}

void EthernetLink::take(std::span<const std::byte> frame) {
  if (frame.size() < head_bytes) return;
  // A network card may have padded it.
  const std::size_t size_bytes = read_u16(frame.data() + size_offset);
  if (size_bytes > 0 && size_bytes <= frame.size() - head_bytes)
    received_.push_back(frame.subspan(head_bytes, size_bytes));
}

std::span<const std::span<const std::byte>> EthernetLink::receive() {
  give_back();
  received_.clear();
  while (received_.size() < frames_received_max && taken_ < slot_count_) {
    std::byte* const slot = ring_ + next_ * slot_bytes_;
    if ((status_of(slot).load(std::memory_order_acquire) & TP_STATUS_USER) == 0) break;
    const auto& head = *reinterpret_cast<const tpacket2_hdr*>(slot);
    next_ = (next_ + 1) % slot_count_;
    ++taken_;
    // What is longer than a slot was cut off: nobody here has sent it.
    if (head.tp_snaplen == head.tp_len && head.tp_mac + std::size_t{head.tp_snaplen} <= slot_bytes_)
      take({slot + head.tp_mac, head.tp_snaplen});
  }
  return received_;
}

}  // namespace llamada::links
