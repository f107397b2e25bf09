#include "driver_links.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "book_codec.hpp"
#include "book_links.hpp"
#include "llamada/llamanet/protocol.hpp"
#include "llamada/llamanet/shared_memory.hpp"
#include "machine.hpp"

namespace llamada::llamanet {
namespace {

using replication::Address;

/// A probe's datagrams may be longer than those of any link.
constexpr std::size_t probe_bytes_max = links::ethernet_mtu_max;

// The lanes of a job: those of slots, from 0 on, then those of drivers, then those of probes. Two nodes of a
// job on one interface have no lane in common.
constexpr std::uint32_t slots_with_lanes_max = 0x8000, drivers_with_lanes_max = 0x4000;
constexpr std::uint32_t driver_lane_first = 0x8000;

/// Port 0: any free one.
Result<Address> parse_address(const JobNodes& nodes) {
  Address address;
  if (::inet_pton(AF_INET, nodes.address.c_str(), address.ip.data()) == 1)
    address.family = Address::Family::ipv4;
  else if (::inet_pton(AF_INET6, nodes.address.c_str(), address.ip.data()) == 1)
    address.family = Address::Family::ipv6;
  const bool is_any = std::ranges::all_of(address.ip, [](std::uint8_t byte) { return byte == 0; });
  if (address.family != Address::Family::none && !is_any) return address;
  return failure(Errc::invalid_argument,
                 "node {} has the address '{}', which is not the IP address of a host", nodes.own,
                 nodes.address);
}

/// No router divides its datagrams, and neither does this host, whatever it knows of the path: what arrives
/// fits.
void forbid_fragments(int socket, Address::Family family) {
  const int probe = family == Address::Family::ipv4 ? IP_PMTUDISC_PROBE : IPV6_PMTUDISC_PROBE;
  if (family == Address::Family::ipv4)
    (void)::setsockopt(socket, IPPROTO_IP, IP_MTU_DISCOVER, &probe, sizeof(probe));
  else
    (void)::setsockopt(socket, IPPROTO_IPV6, IPV6_MTU_DISCOVER, &probe, sizeof(probe));
}

links::UdpFilter frames_for(std::uint32_t slot, const JobNodes& nodes) {
  return {.job = static_cast<std::uint32_t>(nodes.job_number),
          .to = slot == driver_slot ? replication::driver_endpoint(nodes.own) : slot};
}

}  // namespace

Result<DriverLinks::Sockets> DriverLinks::make_sockets(std::uint32_t slot, const Address& address,
                                                       const JobNodes& nodes) {
  Sockets made{.slot = slot};
  const links::UdpFilter frames = frames_for(slot, nodes);
  for (auto [socket, bound, is_bulk] : {std::tuple(&made.small, &made.small_address, false),
                                        std::tuple(&made.bulk, &made.bulk_address, true)}) {
    links::UdpOptions options = udp_options(is_bulk, LinkChoice{}.udp_bytes);
    options.takes_only = frames;
    auto opened = links::UdpLink::make_socket(address, options);
    if (!opened) return propagate(opened);
    auto at = links::UdpLink::address_of(opened->get());
    if (!at) return propagate(at);
    *socket = std::move(*opened);
    *bound = *at;
  }
  return made;
}

Result<DriverLinks> DriverLinks::open(const JobNodes& nodes) {
  auto address = parse_address(nodes);
  if (!address) return propagate(address);
  DriverLinks links;
  links.nodes_ = nodes;
  links.machine_ = this_machine();
  auto driver = make_sockets(driver_slot, *address, nodes);
  if (!driver)
    return failure(driver.error().code(), "its driver cannot receive at {}, the address of node {}: {}",
                   nodes.address, nodes.own, driver.error().text());
  links.driver_ = std::move(*driver);
  links.address_ = *address;
  auto own = links.make_own(0, nodes.of_slot);
  if (!own) return propagate(own);
  links.own_ = std::move(*own);
  if (auto opened = links.open_probe(*address); !opened) return propagate(opened);
  return links;
}

Status DriverLinks::open_probe(const Address& address) {
  auto socket = links::UdpLink::make_socket(address, {.datagram_bytes_max = probe_bytes_max});
  if (!socket) return propagate(socket);
  auto at = links::UdpLink::address_of(socket->get());
  if (!at) return propagate(at);
  forbid_fragments(socket->get(), address.family);
  probe_.udp = std::move(*socket);
  probe_.port = at->port;
  const auto interface = links::interface_with(address);
  if (interface && !interface->is_loopback)
    mtu_ = static_cast<std::uint16_t>(std::min(interface->mtu, probe_bytes_max));
  if (nodes_.may_use_ethernet) why_no_ethernet_ = offer_ethernet(interface);
  return {};
}

std::string DriverLinks::offer_ethernet(const Result<links::NetworkInterface>& interface) {
  if (!interface) return interface.error().text();
  if (interface->is_loopback) return "its address is that of the loopback";
  if (!interface->is_ethernet) return fmt::format("its network interface {} is no Ethernet", interface->name);
  if (nodes_.of_slot.size() > slots_with_lanes_max || nodes_.own >= drivers_with_lanes_max)
    return "the job has too many ranks or nodes for raw Ethernet";
  interface_ = interface->name;
  auto socket = make_raw_socket(LinkProbe::probe_lane(nodes_.own), 0);
  if (!socket) return socket.error().text();
  probe_.raw = std::move(*socket);
  // Frames end where submessages do.
  ethernet_mtu_ = static_cast<std::uint16_t>(mtu_ / 8 * 8);
  driver_.ethernet = {interface->mac, static_cast<std::uint16_t>(driver_lane_first + nodes_.own)};
  for (Sockets& own : own_) offer_ethernet_to(own);
  return {};
}

/// If this node has raw Ethernet, its slots have lanes.
void DriverLinks::offer_ethernet_to(Sockets& own) const {
  if (ethernet_mtu_ != 0) own.ethernet = {driver_.ethernet.mac, static_cast<std::uint16_t>(own.slot)};
}

Result<FileDescriptor> DriverLinks::make_raw_socket(std::uint16_t lane, std::uint32_t mtu) const {
  links::EthernetOptions options = ethernet_options(nodes_.job_number, lane, mtu);
  options.interface = interface_;
  return links::EthernetLink::make_socket(options);
}

Result<std::vector<DriverLinks::Sockets>> DriverLinks::make_own(std::uint32_t first,
                                                                std::span<const std::uint32_t> nodes) const {
  std::vector<Sockets> own;
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i] != nodes_.own) continue;
    auto made = make_sockets(first + i, address_, nodes_);
    if (!made)
      return failure(made.error().code(), "rank {} cannot receive at {}, the address of node {}: {}",
                     first + i, nodes_.address, nodes_.own, made.error().text());
    own.push_back(std::move(*made));
  }
  return own;
}

std::string DriverLinks::endpoints() const { return endpoints_of(own_); }

std::string DriverLinks::endpoints_of(std::span<const Sockets> own) const {
  NodeEndpoints endpoints{nodes_.own,
                          {machine_, driver_.small_address, driver_.bulk_address, driver_.ethernet,
                           probe_.port, mtu_, ethernet_mtu_},
                          {}};
  for (const Sockets& each : own)
    endpoints.slots.push_back(
        {each.slot, {nodes_.own, each.small_address, each.bulk_address, each.ethernet}});
  return encode_endpoints(endpoints);
}

Result<std::unique_ptr<LinkProbe>> DriverLinks::probe(std::span<const std::string> endpoints_of_nodes) {
  if (!probe_.udp) return failure(Errc::already_exists, "node {} has probed its links before", nodes_.own);
  std::vector<BookNode> nodes(endpoints_of_nodes.size());
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    if (endpoints_of_nodes[node].empty()) continue;
    auto endpoints = decode_endpoints(endpoints_of_nodes[node]);
    if (!endpoints) return propagate(endpoints);
    nodes[node] = endpoints->driver;
  }
  if (nodes_.own >= nodes.size())
    return failure(Errc::parse_error, "node {} is not among the nodes to probe", nodes_.own);
  auto udp = links::UdpLink::adopt(std::move(probe_.udp), {.datagram_bytes_max = probe_bytes_max});
  if (!udp) return propagate(udp);
  std::unique_ptr<replication::Link> raw;
  if (probe_.raw) {
    auto adopted = links::EthernetLink::adopt(
        std::move(probe_.raw), ethernet_options(nodes_.job_number, LinkProbe::probe_lane(nodes_.own), 0));
    if (!adopted) return propagate(adopted);
    raw = std::move(*adopted);
  }
  return std::make_unique<LinkProbe>(
      LinkProbe::Options{nodes_.own, nodes_.job_number, nodes_.key, std::move(nodes)}, std::move(*udp),
      std::move(raw));
}

Status DriverLinks::meet(std::span<const std::string> endpoints_of_nodes, const LinkChoice& choice) {
  if (book_) return failure(Errc::already_exists, "node {} has met the other nodes before", nodes_.own);
  auto all = join_endpoints(endpoints_of_nodes, nodes_.of_slot);
  if (!all) return propagate(all);
  if (choice.uses_ethernet() && (ethernet_mtu_ == 0 || choice.ethernet_mtu > ethernet_mtu_))
    return failure(Errc::invalid_argument, "node {} cannot use raw Ethernet with an MTU of {}", nodes_.own,
                   choice.ethernet_mtu);
  probe_ = {};
  if (auto status = write_book(
          {nodes_.own, nodes_.job_number, nodes_.key, choice, std::move(all->nodes), std::move(all->slots)});
      !status)
    return status;
  if (auto made = use_ethernet(driver_); !made) return made;
  for (Sockets& own : own_)
    if (auto made = use_ethernet(own); !made) return made;
  return {};
}

Result<std::string> DriverLinks::add(std::span<const std::uint32_t> nodes) {
  const auto first = static_cast<std::uint32_t>(nodes_.of_slot.size());
  nodes_.of_slot.insert(nodes_.of_slot.end(), nodes.begin(), nodes.end());
  if (met_.links.uses_ethernet() && nodes_.of_slot.size() > slots_with_lanes_max)
    return failure(Errc::out_of_resources,
                   "the job has too many ranks for raw Ethernet; --link udp has room");
  auto own = make_own(first, nodes);
  if (!own) return propagate(own);
  for (Sockets& added : *own) {
    offer_ethernet_to(added);
    if (auto made = use_ethernet(added); !made) return propagate(made);
  }
  if (!not_heard_.empty())
    for (const Sockets& added : *own)
      if (auto status = filter(added); !status) return propagate(status);
  std::string endpoints = endpoints_of(*own);
  std::ranges::move(*own, std::back_inserter(own_));
  return endpoints;
}

Status DriverLinks::meet_more(std::span<const std::string> endpoints_of_nodes) {
  NodeBook next = met_;
  auto nodes = add_endpoints(endpoints_of_nodes, nodes_.of_slot, next.entries);
  if (!nodes) return propagate(nodes);
  return write_book(std::move(next));
}

/// Whoever reads the old book has the old file.
Status DriverLinks::write_book(NodeBook book) {
  const auto bytes = encode_book(book);
  auto memory = create_memory("llamada-book", bytes.size());
  if (!memory) return propagate(memory);
  auto mapping = Mapping::map(memory->get(), bytes.size(), Mapping::Access::read_write);
  if (!mapping) return propagate(mapping);
  std::memcpy(mapping->data(), bytes.data(), bytes.size());
  auto read_only = reopen_read_only(memory->get());
  if (!read_only) return propagate(read_only);
  book_ = std::move(*read_only);
  met_ = std::move(book);
  return {};
}

/// If raw Ethernet was chosen, a new raw socket takes the place of the UDP socket for small frames.
Status DriverLinks::use_ethernet(Sockets& of) const {
  if (!met_.links.uses_ethernet()) return {};
  of.small.reset();
  auto made = make_raw_socket(of.ethernet.lane, met_.links.ethernet_mtu);
  if (!made) return propagate(made);
  of.small = std::move(*made);
  return {};
}

Result<std::pair<FileDescriptor, FileDescriptor>> DriverLinks::own_sockets() const {
  std::pair<FileDescriptor, FileDescriptor> own(::fcntl(driver_.small.get(), F_DUPFD_CLOEXEC, 0),
                                                ::fcntl(driver_.bulk.get(), F_DUPFD_CLOEXEC, 0));
  if (!own.first || !own.second) return system_failure("duplicate the sockets of the driver");
  return own;
}

Status DriverLinks::stop_hearing(std::vector<std::uint32_t> nodes) {
  if (met_.links.uses_ethernet())
    return failure(Errc::unsupported, "a network of raw Ethernet cannot be cut");
  not_heard_ = std::move(nodes);
  if (auto status = filter(driver_); !status) return status;
  for (const Sockets& own : own_)
    if (auto status = filter(own); !status) return status;
  return {};
}

/// Both sockets take no frames of the endpoints of the nodes that are not heard.
Status DriverLinks::filter(const Sockets& of) const {
  std::vector<replication::EndpointNumber> endpoints;
  const auto is_not_heard = [this](std::uint32_t node) {
    return std::ranges::find(not_heard_, node) != not_heard_.end();
  };
  for (const std::uint32_t node : not_heard_) endpoints.push_back(replication::driver_endpoint(node));
  for (std::uint32_t slot = 0; slot < nodes_.of_slot.size(); ++slot)
    if (is_not_heard(nodes_.of_slot[slot])) endpoints.push_back(slot);
  links::UdpFilter frames = frames_for(of.slot, nodes_);
  frames.not_from = endpoints;
  for (const FileDescriptor* socket : {&of.small, &of.bulk})
    if (auto status = links::UdpLink::set_filter(socket->get(), frames); !status) return status;
  return {};
}

void DriverLinks::renew(std::uint32_t slot) {
  const auto own = std::ranges::lower_bound(own_, slot, {}, &Sockets::slot);
  if (own == own_.end() || own->slot != slot) return;
  const Status made = use_ethernet(*own);
  own->error = made ? std::nullopt : std::optional(made.error());
}

Result<std::vector<int>> DriverLinks::descriptors(std::uint32_t slot) const {
  const auto own = std::ranges::lower_bound(own_, slot, {}, &Sockets::slot);
  if (own->error)
    return failure(own->error->code(), "rank {} cannot receive from other nodes: {}", slot,
                   own->error->text());
  return std::vector<int>{book_.get(), own->small.get(), own->bulk.get()};
}

}  // namespace llamada::llamanet
