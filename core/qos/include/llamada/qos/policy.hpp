#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace llamada::qos {

/// A span of time as the policies use it, in nanoseconds. Never negative in a consistent policy.
using Duration = std::chrono::nanoseconds;

/// DURATION_INFINITE of DDS 1.4, 2.3.3.
inline constexpr Duration duration_infinite = Duration::max();

/// LENGTH_UNLIMITED of DDS 1.4, 2.3.3, for counts of samples and instances.
inline constexpr std::int32_t length_unlimited = -1;

/// The QosPolicyId_t of DDS 1.4, 2.3.3, and one of our own from far outside their range.
enum class PolicyId : std::uint32_t {
  durability = 2,
  liveliness = 8,
  reliability = 11,
  history = 13,
  resource_limits = 14,
  rank_replacement = 0x4c4c0001,
};

/// "RELIABILITY", the policy's name in the standard.
std::string_view to_string(PolicyId policy);

/// "100 ms", "infinite": the largest unit that gives a whole number.
std::string to_string(Duration duration);

/// "7" or "LENGTH_UNLIMITED".
std::string length_to_string(std::int32_t length);

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
