#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>

#include "llamada/qos/endpoint_qos.hpp"

namespace llamada::service {

/// How strong a writer is among the EXCLUSIVE writers of an instance. Pure.
struct Rank {
  std::int32_t lowest = 0;        ///< OWNERSHIP_STRENGTH, as far as it is known: it may have been anything
  std::int32_t highest = 0;       ///< between the two when a sample was written.
  std::uint64_t participant = 0;  ///< Of the EndpointId, as that of `endpoint`.
  std::uint64_t endpoint = 0;

  void set(std::int32_t strength) { lowest = highest = strength; }
  void widen(std::int32_t strength) {
    lowest = std::min(lowest, strength);
    highest = std::max(highest, strength);
  }
  /// As readers decide (DDS 1.4, 2.2.3.9.2): the higher strength, among equals the lower EndpointId. False if
  /// that is not certain.
  bool outranks(const Rank& other) const {
    if (lowest != other.highest) return lowest > other.highest;
    return std::tie(participant, endpoint) < std::tie(other.participant, other.endpoint);
  }
};

inline bool is_exclusive(const qos::EndpointQos& writer) {
  return writer.datawriter.ownership.kind == qos::OwnershipKind::exclusive;
}

/// True if every reader that matches `other` matches this writer, too.
bool has_all_readers_of(const qos::EndpointQos& writer, const qos::EndpointQos& other);

}  // namespace llamada::service
