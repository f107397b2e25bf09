#include "book_codec.hpp"

#include <algorithm>

#include "llamada/base/bytes.hpp"

namespace llamada::llamanet {
namespace {

using replication::Address;

constexpr std::uint32_t endpoints_mark = 0x50454C4C;  // "LLEP"
constexpr std::uint32_t book_mark = 0x4B424C4C;       // "LLBK"
constexpr std::uint32_t book_version = 3;
constexpr std::size_t entry_bytes = 48;
constexpr std::size_t entry_reserved_bytes = 8;
constexpr std::size_t node_reserved_bytes = 2;
constexpr std::size_t node_bytes = 16 + entry_bytes;
constexpr std::uint32_t datagram_bytes_min = 256, mtu_max = 9000;
constexpr std::size_t ipv4_bytes = 4;

/// Of a rank or of a driver.
struct Entry {
  replication::EndpointNumber endpoint = 0;
  BookEntry where;
};

void put_reserved(ByteWriter& to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to.number(std::uint8_t{0});
}

void take_reserved(ByteReader& from, std::size_t count) {
  from.require(std::ranges::all_of(from.next(count), [](std::byte byte) { return byte == std::byte{0}; }));
}

void put_entry(ByteWriter& to, replication::EndpointNumber endpoint, const BookEntry& entry) {
  to.number(endpoint);
  to.number(entry.node);
  to.bytes(std::as_bytes(std::span(entry.small.ip)));
  to.number(entry.small.port);
  to.number(entry.bulk.port);
  to.number(static_cast<std::uint32_t>(entry.small.family));
  to.bytes(std::as_bytes(std::span(entry.ethernet.mac)));
  to.number(entry.ethernet.lane);
  put_reserved(to, entry_reserved_bytes);
}

EthernetPlace take_ethernet(ByteReader& from) {
  EthernetPlace place;
  const auto mac = from.next(place.mac.size());
  if (from.ok()) std::memcpy(place.mac.data(), mac.data(), mac.size());
  place.lane = from.number<std::uint16_t>();
  return place;
}

/// What lies behind the node in an entry of which nothing else is known.
constexpr std::size_t unknown_bytes = entry_bytes - 2 * sizeof(std::uint32_t);

/// Both UDP sockets of an endpoint have one IP address.
Entry take_entry(ByteReader& from) {
  Entry taken;
  taken.endpoint = from.number<std::uint32_t>();
  taken.where.node = from.number<std::uint32_t>();
  Address address;
  const auto ip = from.next(address.ip.size());
  if (from.ok()) std::memcpy(address.ip.data(), ip.data(), ip.size());
  const auto small_port = from.number<std::uint16_t>();
  const auto bulk_port = from.number<std::uint16_t>();
  const auto family = from.number<std::uint32_t>();
  from.require(small_port != 0 && bulk_port != 0);
  const bool is_ipv4 = family == static_cast<std::uint32_t>(Address::Family::ipv4);
  from.require(is_ipv4 || family == static_cast<std::uint32_t>(Address::Family::ipv6));
  const auto unused = std::span(address.ip).subspan(ipv4_bytes);
  from.require(!is_ipv4 || std::ranges::all_of(unused, [](std::uint8_t byte) { return byte == 0; }));
  address.family = is_ipv4 ? Address::Family::ipv4 : Address::Family::ipv6;
  taken.where.small = taken.where.bulk = address;
  taken.where.small.port = small_port;
  taken.where.bulk.port = bulk_port;
  taken.where.ethernet = take_ethernet(from);
  take_reserved(from, entry_reserved_bytes);
  return taken;
}

/// Of a slot in a book, which may have no address.
Entry take_slot(ByteReader& from) {
  const std::span<const std::byte> bytes = from.next(entry_bytes);
  if (!from.ok()) return {};
  const auto address = bytes.last(unknown_bytes);
  const bool is_known = std::ranges::any_of(address, [](std::byte byte) { return byte != std::byte{0}; });
  ByteReader entry(bytes);
  if (!is_known) {
    Entry unknown;
    unknown.endpoint = entry.number<std::uint32_t>();
    unknown.where.node = entry.number<std::uint32_t>();
    return unknown;
  }
  const Entry known = take_entry(entry);
  from.require(entry.is_complete());
  return known;
}

void put_node(ByteWriter& to, std::uint32_t node, const BookNode& of) {
  to.number(of.machine);
  to.number(of.probe_port);
  to.number(of.mtu);
  to.number(of.ethernet_mtu);
  put_reserved(to, node_reserved_bytes);
  put_entry(to, replication::driver_endpoint(node), {node, of.small, of.bulk, of.ethernet});
}

BookNode take_node(ByteReader& from, std::uint32_t node) {
  BookNode taken{.machine = from.number<std::uint64_t>()};
  taken.probe_port = from.number<std::uint16_t>();
  taken.mtu = from.number<std::uint16_t>();
  taken.ethernet_mtu = from.number<std::uint16_t>();
  take_reserved(from, node_reserved_bytes);
  const Entry driver = take_entry(from);
  from.require(driver.where.node == node && driver.endpoint == replication::driver_endpoint(node));
  taken.small = driver.where.small;
  taken.bulk = driver.where.bulk;
  taken.ethernet = driver.where.ethernet;
  return taken;
}

void put_links(ByteWriter& to, const LinkChoice& links) {
  to.number(links.udp_bytes);
  to.number(links.ethernet_mtu);
}

LinkChoice take_links(ByteReader& from) {
  LinkChoice links{from.number<std::uint32_t>(), from.number<std::uint32_t>()};
  from.require(links.udp_bytes >= datagram_bytes_min && links.udp_bytes <= mtu_max);
  from.require(links.ethernet_mtu <= mtu_max &&
               (links.ethernet_mtu == 0 || links.ethernet_mtu >= datagram_bytes_min));
  return links;
}

void put_head(ByteWriter& to, std::uint32_t mark, std::uint32_t node, std::size_t count) {
  to.number(mark);
  to.number(book_version);
  to.number(node);
  to.number(static_cast<std::uint32_t>(count));
}

struct Head {
  std::uint32_t node = 0;
  std::uint32_t count = 0;
};
Head take_head(ByteReader& from, std::uint32_t mark) {
  from.require(from.number<std::uint32_t>() == mark);
  from.require(from.number<std::uint32_t>() == book_version);
  Head head;
  head.node = from.number<std::uint32_t>();
  head.count = from.number<std::uint32_t>();
  return head;
}

/// No count is believed before its entries are there.
void require_entries(ByteReader& from, std::uint64_t node_count, std::uint64_t entry_count) {
  from.require(from.left_bytes() == node_count * node_bytes + entry_count * entry_bytes);
}

}  // namespace

std::string encode_endpoints(const NodeEndpoints& endpoints) {
  ByteWriter to;
  put_head(to, endpoints_mark, endpoints.node, endpoints.slots.size());
  put_node(to, endpoints.node, endpoints.driver);
  for (const auto& [slot, entry] : endpoints.slots) put_entry(to, slot, entry);
  return ByteReader::text_of(to.written());
}

Result<NodeEndpoints> decode_endpoints(std::string_view bytes) {
  ByteReader from(std::as_bytes(std::span(bytes)));
  const Head head = take_head(from, endpoints_mark);
  require_entries(from, 1, head.count);
  NodeEndpoints endpoints{head.node, take_node(from, head.node), {}};
  for (std::uint32_t i = 0; i < head.count && from.ok(); ++i) {
    const Entry taken = take_entry(from);
    from.require(taken.where.node == head.node);
    endpoints.slots.push_back({taken.endpoint, taken.where});
  }
  if (!from.is_complete())
    return failure(Errc::parse_error, "{} bytes are not the endpoints of a node's ranks", bytes.size());
  return endpoints;
}

std::vector<std::byte> encode_book(const NodeBook& book) {
  ByteWriter to;
  put_head(to, book_mark, book.own_node, book.entries.size());
  to.number(book.job_number);
  to.number(book.key.low);
  to.number(book.key.high);
  to.number(static_cast<std::uint32_t>(book.nodes.size()));
  put_links(to, book.links);
  for (std::size_t node = 0; node < book.nodes.size(); ++node)
    put_node(to, static_cast<std::uint32_t>(node), book.nodes[node]);
  for (std::size_t slot = 0; slot < book.entries.size(); ++slot)
    put_entry(to, static_cast<std::uint32_t>(slot), book.entries[slot]);
  return to.take();
}

Result<NodeBook> decode_book(std::span<const std::byte> bytes) {
  ByteReader from(bytes);
  const Head head = take_head(from, book_mark);
  NodeBook book;
  book.own_node = head.node;
  book.job_number = from.number<std::uint64_t>();
  book.key.low = from.number<std::uint64_t>();
  book.key.high = from.number<std::uint64_t>();
  const auto node_count = from.number<std::uint32_t>();
  book.links = take_links(from);
  require_entries(from, node_count, head.count);
  for (std::uint32_t node = 0; node < node_count && from.ok(); ++node)
    book.nodes.push_back(take_node(from, node));
  for (std::uint32_t slot = 0; slot < head.count && from.ok(); ++slot) {
    const Entry taken = take_slot(from);
    from.require(taken.endpoint == slot && taken.where.node < node_count);
    book.entries.push_back(taken.where);
  }
  if (!from.is_complete())
    return failure(Errc::parse_error, "{} bytes are not the address book of a job", bytes.size());
  return book;
}

Result<EndpointsOfAll> join_endpoints(std::span<const std::string> endpoints_of_nodes,
                                      std::span<const std::uint32_t> node_of_slot) {
  if (const auto lost = std::ranges::find(endpoints_of_nodes, ""); lost != endpoints_of_nodes.end())
    return failure(Errc::parse_error, "node {} does not tell where its ranks are",
                   lost - endpoints_of_nodes.begin());
  EndpointsOfAll all;
  auto nodes = add_endpoints(endpoints_of_nodes, node_of_slot, all.slots);
  if (!nodes) return propagate(nodes);
  all.nodes = std::move(*nodes);
  const auto missing = std::ranges::find_if_not(all.slots, &BookEntry::is_known);
  if (missing == all.slots.end()) return all;
  const auto slot = static_cast<std::size_t>(missing - all.slots.begin());
  return failure(Errc::parse_error, "node {} does not tell where its rank {} is", node_of_slot[slot], slot);
}

Result<std::vector<BookNode>> add_endpoints(std::span<const std::string> endpoints_of_nodes,
                                            std::span<const std::uint32_t> node_of_slot,
                                            std::vector<BookEntry>& slots) {
  std::vector<BookEntry> more = slots;
  for (std::size_t slot = more.size(); slot < node_of_slot.size(); ++slot)
    more.push_back({node_of_slot[slot], {}, {}});
  std::vector<BookNode> nodes;
  for (std::size_t node = 0; node < endpoints_of_nodes.size(); ++node) {
    if (endpoints_of_nodes[node].empty()) {
      nodes.emplace_back();
      continue;
    }
    auto endpoints = decode_endpoints(endpoints_of_nodes[node]);
    if (!endpoints)
      return failure(Errc::parse_error, "node {} tells where its ranks are, and {}", node,
                     endpoints.error().text());
    if (endpoints->node != node)
      return failure(Errc::parse_error, "node {} tells where the ranks of node {} are", node,
                     endpoints->node);
    nodes.push_back(endpoints->driver);
    for (const auto& [slot, entry] : endpoints->slots) {
      if (slot >= more.size() || node_of_slot[slot] != node || more[slot].is_known())
        return failure(Errc::parse_error, "node {} tells where rank {} is, which it does not have, or twice",
                       node, slot);
      more[slot] = entry;
    }
  }
  slots = std::move(more);
  return nodes;
}

}  // namespace llamada::llamanet
