#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "llamada/base/result.hpp"

namespace llamada::qos {

/// A span of time as the policies use it, in nanoseconds. Never negative in a consistent policy.
using Duration = std::chrono::nanoseconds;

/// DURATION_INFINITE of DDS 1.4, 2.3.3.
inline constexpr Duration duration_infinite = Duration::max();

/// LENGTH_UNLIMITED of DDS 1.4, 2.3.3, for counts of samples and instances.
inline constexpr std::int32_t length_unlimited = -1;

/// Longer values of USER_DATA, TOPIC_DATA and GROUP_DATA are inconsistent, for every participant keeps them.
inline constexpr std::size_t opaque_value_size_max_bytes = 4096;

/// The QosPolicyId_t of DDS 1.4, 2.3.3, and two of our own from far outside their range.
enum class PolicyId : std::uint32_t {
  user_data = 1,
  durability = 2,
  presentation = 3,
  deadline = 4,
  latency_budget = 5,
  ownership = 6,
  ownership_strength = 7,
  liveliness = 8,
  time_based_filter = 9,
  partition = 10,
  reliability = 11,
  destination_order = 12,
  history = 13,
  resource_limits = 14,
  entity_factory = 15,
  writer_data_lifecycle = 16,
  reader_data_lifecycle = 17,
  topic_data = 18,
  group_data = 19,
  transport_priority = 20,
  lifespan = 21,
  durability_service = 22,
  rank_replacement = 0x4c4c0001,
  send_window = 0x4c4c0002,
};

/// All of them, in the order of their ids.
std::span<const PolicyId> all_policies();

/// "RELIABILITY", the policy's name in the standard.
std::string_view to_string(PolicyId policy);

/// "reliability", the name of its element in DDS-XML and of its page in docs/policies.
std::string_view element_name(PolicyId policy);

/// True if the policy may be changed when its entity is enabled (DDS 1.4, 2.2.3, "Changeable").
bool is_changeable(PolicyId policy);

/// True if a writer's offer must satisfy a reader's request (DDS 1.4, 2.2.3, "RxO").
bool is_requested_offered(PolicyId policy);

/// "100 ms", "infinite": the largest unit that gives a whole number.
std::string to_string(Duration duration);

/// "7" or "LENGTH_UNLIMITED".
std::string length_to_string(std::int32_t length);

/// "3 bytes: 0a 0b 0c", the first 16 of more; "empty".
std::string opaque_to_string(std::span<const std::byte> value);

/// Errc::invalid_argument above opaque_value_size_max_bytes.
Status check_opaque_value(PolicyId policy, std::span<const std::byte> value);

/// The name of one kind of a policy in the standard, without the suffix of its IDL name: "KEEP_ALL". The
/// policies' headers give the table of each enumeration by kind_names(Kind{}), in the standard's order.
template <typename Kind>
struct KindName {
  Kind kind;
  std::string_view name;
};

/// The name of `kind`; "?" for a value outside the enumeration.
template <typename Kind>
requires requires(Kind kind) { kind_names(kind); }
std::string_view to_string(Kind kind) {
  for (const KindName<Kind>& entry : kind_names(Kind{})) {
    if (entry.kind == kind) return entry.name;
  }
  return "?";
}

/// The kind with that very name, if there is one.
template <typename Kind>
std::optional<Kind> kind_from_name(std::string_view name) {
  for (const KindName<Kind>& entry : kind_names(Kind{})) {
    if (entry.name == name) return entry.kind;
  }
  return std::nullopt;
}

}  // namespace llamada::qos
