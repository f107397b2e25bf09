#include "driver_links.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "book_codec.hpp"
#include "link_options.hpp"
#include "llamada/llamanet/protocol.hpp"
#include "llamada/llamanet/shared_memory.hpp"
#include "machine.hpp"

namespace llamada::llamanet {
namespace {

using replication::Address;

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

}  // namespace

Result<DriverLinks::Sockets> DriverLinks::make_sockets(std::uint32_t slot, const Address& address) {
  Sockets made{.slot = slot};
  for (auto [socket, bound, options] : {std::tuple(&made.small, &made.small_address, small_link_options),
                                        std::tuple(&made.bulk, &made.bulk_address, bulk_link_options)}) {
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
  auto driver = make_sockets(driver_slot, *address);
  if (!driver)
    return failure(driver.error().code(), "its driver cannot receive at {}, the address of node {}: {}",
                   nodes.address, nodes.own, driver.error().text());
  links.driver_ = std::move(*driver);
  for (std::uint32_t slot = 0; slot < nodes.of_slot.size(); ++slot) {
    if (nodes.of_slot[slot] != nodes.own) continue;
    auto made = make_sockets(slot, *address);
    if (!made)
      return failure(made.error().code(), "rank {} cannot receive at {}, the address of node {}: {}", slot,
                     nodes.address, nodes.own, made.error().text());
    links.own_.push_back(std::move(*made));
  }
  return links;
}

std::string DriverLinks::endpoints() const {
  NodeEndpoints endpoints{nodes_.own, {machine_, driver_.small_address, driver_.bulk_address}, {}};
  for (const Sockets& own : own_)
    endpoints.slots.push_back({own.slot, {nodes_.own, own.small_address, own.bulk_address}});
  return encode_endpoints(endpoints);
}

Status DriverLinks::meet(std::span<const std::string> endpoints_of_nodes) {
  if (book_) return failure(Errc::already_exists, "node {} has met the other nodes before", nodes_.own);
  auto all = join_endpoints(endpoints_of_nodes, nodes_.of_slot);
  if (!all) return propagate(all);
  met_ = {nodes_.own, nodes_.job_number, nodes_.key, std::move(all->nodes), std::move(all->slots)};
  const auto bytes = encode_book(met_);
  auto memory = create_memory("llamada-book", bytes.size());
  if (!memory) return propagate(memory);
  auto mapping = Mapping::map(memory->get(), bytes.size(), Mapping::Access::read_write);
  if (!mapping) return propagate(mapping);
  std::memcpy(mapping->data(), bytes.data(), bytes.size());
  auto read_only = reopen_read_only(memory->get());
  if (!read_only) return propagate(read_only);
  book_ = std::move(*read_only);
  return {};
}

std::vector<int> DriverLinks::descriptors(std::uint32_t slot) const {
  const auto own = std::ranges::lower_bound(own_, slot, {}, &Sockets::slot);
  return {book_.get(), own->small.get(), own->bulk.get()};
}

}  // namespace llamada::llamanet
