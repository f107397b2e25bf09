#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "llamada/base/result.hpp"
#include "llamada/qos/policy.hpp"

namespace llamada::qos {

/// TOPIC_DATA (DDS 1.4, 2.2.3.2): bytes of the program that travel with discovery, beside each writer and
/// reader of the topic. Changeable; nothing to match.
struct TopicData {
  static constexpr PolicyId id = PolicyId::topic_data;

  std::vector<std::byte> value;

  bool operator==(const TopicData&) const = default;
};

/// Errc::invalid_argument above opaque_value_size_max_bytes.
Status check_consistent(const TopicData& policy);

/// "3 bytes: 0a 0b 0c", the first 16 of more; "empty".
std::string to_string(const TopicData& policy);

}  // namespace llamada::qos
