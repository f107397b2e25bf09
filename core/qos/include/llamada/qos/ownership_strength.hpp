#pragma once

#include "llamada/base/result.hpp"
#include "llamada/qos/policy.hpp"

namespace llamada::qos {

/// OWNERSHIP_STRENGTH (DDS 1.4, 2.2.3.10): of the writers of an instance with EXCLUSIVE ownership that are
/// alive, the one with the highest value is heard. Changeable; nothing to match.
struct OwnershipStrength {
  static constexpr PolicyId id = PolicyId::ownership_strength;

  std::int32_t value = 0;

  bool operator==(const OwnershipStrength&) const = default;
};

/// "value 5".
std::string to_string(const OwnershipStrength& policy);

}  // namespace llamada::qos
