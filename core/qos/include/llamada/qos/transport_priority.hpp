#pragma once

#include "llamada/base/result.hpp"
#include "llamada/qos/policy.hpp"

namespace llamada::qos {

/// TRANSPORT_PRIORITY (DDS 1.4, 2.2.3.15): what has waited is taken from the writer of the highest value
/// first. A hint. Changeable; nothing to match.
struct TransportPriority {
  static constexpr PolicyId id = PolicyId::transport_priority;

  std::int32_t value = 0;

  bool operator==(const TransportPriority&) const = default;
};

/// "value 5".
std::string to_string(const TransportPriority& policy);

}  // namespace llamada::qos
