#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "llamada/base/result.hpp"
#include "llamada/qos/policy.hpp"

namespace llamada::qos {

/// GROUP_DATA (DDS 1.4, 2.2.3.3): bytes of the program that travel with discovery, beside each writer of a
/// publisher and each reader of a subscriber. Changeable; nothing to match.
struct GroupData {
  static constexpr PolicyId id = PolicyId::group_data;

  std::vector<std::byte> value;

  bool operator==(const GroupData&) const = default;
};

/// Errc::invalid_argument above opaque_value_size_max_bytes.
Status check_consistent(const GroupData& policy);

/// "3 bytes: 0a 0b 0c", the first 16 of more; "empty".
std::string to_string(const GroupData& policy);

}  // namespace llamada::qos
