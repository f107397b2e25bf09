#pragma once

#include "llamada/base/result.hpp"
#include "llamada/qos/policy.hpp"

namespace llamada::qos {

/// DEADLINE (DDS 1.4, 2.2.3.7): each instance gets a new sample within each period. A writer or reader that
/// misses one is told so by OFFERED_DEADLINE_MISSED or REQUESTED_DEADLINE_MISSED. Changeable.
struct Deadline {
  static constexpr PolicyId id = PolicyId::deadline;

  /// Above 0.
  Duration period = duration_infinite;

  bool operator==(const Deadline&) const = default;
};

/// Errc::invalid_argument if period is not above 0.
Status check_consistent(const Deadline& policy);

/// Errc::incompatible, and why, if the period offered is longer than the one requested.
Status check_compatible(const Deadline& offered, const Deadline& requested);

/// "period 100 ms".
std::string to_string(const Deadline& policy);

}  // namespace llamada::qos
