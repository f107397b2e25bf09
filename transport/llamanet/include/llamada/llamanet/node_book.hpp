#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "llamada/base/siphash.hpp"
#include "llamada/llamanet/driver_page.hpp"
#include "llamada/replication/carrier.hpp"

namespace llamada::llamanet {

/// By which links the processes of a job on several nodes reach those of other nodes, and how long their
/// datagrams are. All nodes of a job have the same.
struct LinkChoice {
  std::uint32_t udp_bytes = 1472;  ///< of a UDP datagram at most
  /// Of a raw frame, behind its Ethernet head: small frames go by raw Ethernet. 0: all go by UDP.
  std::uint32_t ethernet_mtu = 0;
  bool uses_ethernet() const { return ethernet_mtu != 0; }
  bool operator==(const LinkChoice&) const = default;
};

/// Where an endpoint receives raw Ethernet frames.
struct EthernetPlace {
  std::array<std::uint8_t, 6> mac{};
  std::uint16_t lane = 0;
  replication::Address address() const {
    replication::Address address{.family = replication::Address::Family::ethernet, .port = lane};
    std::copy(mac.begin(), mac.end(), address.ip.begin());
    return address;
  }
  bool operator==(const EthernetPlace&) const = default;
};

/// Where one rank of a job on several nodes receives.
struct BookEntry {
  std::uint32_t node = 0;
  replication::Address small;  ///< of its UDP socket for small frames
  replication::Address bulk;   ///< of its UDP socket for bulk
  EthernetPlace ethernet;      ///< for small frames; all zero where its node has no raw Ethernet
  /// Not for a slot whose application was to be added, and was not.
  bool is_known() const { return small.family != replication::Address::Family::none; }
  bool operator==(const BookEntry&) const = default;
};

/// A node of such a job, and where its driver receives: replication::driver_endpoint().
struct BookNode {
  /// Equal for two nodes that share a machine's cores, unless 0: unknown. A hint for how to wait, and nothing
  /// else: nodes of one machine share neither arenas nor fate.
  std::uint64_t machine = 0;
  replication::Address small;
  replication::Address bulk;
  EthernetPlace ethernet;
  std::uint16_t probe_port = 0;    ///< where its driver answers probes by UDP
  std::uint16_t mtu = 0;           ///< of the interface of its address; 0: unknown
  std::uint16_t ethernet_mtu = 0;  ///< of its raw frames; 0: it has no raw Ethernet
  bool operator==(const BookNode&) const = default;
};

/// Where the ranks of a job on several nodes, and its drivers, are. Every rank that starts with the job has
/// the same entries, and each incarnation of it gets the same book. When ranks are added there is another
/// book, with more entries (Application::refresh_book()). Its bytes are in docs/internals/driver-protocol.md.
struct NodeBook {
  std::uint32_t own_node = 0;
  std::uint64_t job_number = 0;
  SipHashKey key;  ///< for the frames between nodes: a secret
  LinkChoice links;
  std::vector<BookNode> nodes;     ///< by number
  std::vector<BookEntry> entries;  ///< by slot

  /// Where a rank or a driver receives small frames, by the link that was chosen for them.
  template <typename Where>
  replication::Address small_of(const Where& where) const {
    return links.uses_ethernet() ? where.ethernet.address() : where.small;
  }
};

/// What a carrier is to know of the rank with this entry. Of one that has not attached yet (incarnation 0) it
/// is the first one that will. The incarnation must have been read after the state (acquire).
inline replication::PeerState peer_state(const NodeBook& book, const BookEntry& entry, SlotState state,
                                         std::uint32_t incarnation) {
  return {.incarnation = static_cast<std::uint16_t>(std::max(incarnation, 1U)),
          .is_lost = state == SlotState::dead,
          .is_done = state == SlotState::done || is_lost(state),
          .small = entry.is_known() ? book.small_of(entry) : entry.small,
          .bulk = entry.bulk};
}

}  // namespace llamada::llamanet
