#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "llamada/base/result.hpp"
#include "llamada/qos/policy.hpp"

namespace llamada::qos {

/// USER_DATA (DDS 1.4, 2.2.3.1): bytes of the program that travel with discovery, beside a participant, a
/// writer or a reader. Changeable; nothing to match.
struct UserData {
  static constexpr PolicyId id = PolicyId::user_data;

  std::vector<std::byte> value;

  bool operator==(const UserData&) const = default;
};

/// Errc::invalid_argument above opaque_value_size_max_bytes.
Status check_consistent(const UserData& policy);

/// "3 bytes: 0a 0b 0c", the first 16 of more; "empty".
std::string to_string(const UserData& policy);

}  // namespace llamada::qos
