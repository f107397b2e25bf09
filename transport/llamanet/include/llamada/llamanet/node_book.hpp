#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "llamada/base/siphash.hpp"
#include "llamada/llamanet/driver_page.hpp"
#include "llamada/replication/carrier.hpp"

namespace llamada::llamanet {

/// Where one rank of a job on several nodes receives.
struct BookEntry {
  std::uint32_t node = 0;
  replication::Address small;  ///< of its link for small frames
  replication::Address bulk;   ///< of its link for bulk
  bool operator==(const BookEntry&) const = default;
};

/// What a carrier is to know of that rank. Of one that has not attached yet (incarnation 0) it is the first
/// one that will. The incarnation must have been read after the state (acquire).
inline replication::PeerState peer_state(const BookEntry& entry, SlotState state, std::uint32_t incarnation) {
  return {.incarnation = static_cast<std::uint16_t>(std::max(incarnation, 1U)),
          .is_lost = state == SlotState::dead,
          .is_done = state == SlotState::done,
          .small = entry.small,
          .bulk = entry.bulk};
}

/// A node of such a job, and where its driver receives: replication::driver_endpoint().
struct BookNode {
  /// Equal for two nodes that share a machine's cores, unless 0: unknown. A hint for how to wait, and nothing
  /// else: nodes of one machine share neither arenas nor fate.
  std::uint64_t machine = 0;
  replication::Address small;
  replication::Address bulk;
  bool operator==(const BookNode&) const = default;
};

/// Where the ranks of a job on several nodes, and its drivers, are. Every rank of the job has the same
/// entries, and each incarnation of a rank gets the same book. Its bytes are in
/// docs/internals/driver-protocol.md.
struct NodeBook {
  std::uint32_t own_node = 0;
  std::uint64_t job_number = 0;
  SipHashKey key;                  ///< for the frames between nodes: a secret
  std::vector<BookNode> nodes;     ///< by number
  std::vector<BookEntry> entries;  ///< by slot
};

}  // namespace llamada::llamanet
