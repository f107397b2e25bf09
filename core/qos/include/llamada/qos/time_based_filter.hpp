#pragma once

#include "llamada/base/result.hpp"
#include "llamada/qos/policy.hpp"

namespace llamada::qos {

/// TIME_BASED_FILTER (DDS 1.4, 2.2.3.12): a reader gets at most one sample of an instance in each
/// minimum_separation. Changeable; nothing to match.
struct TimeBasedFilter {
  static constexpr PolicyId id = PolicyId::time_based_filter;

  /// Not above the reader's DEADLINE period.
  Duration minimum_separation = Duration::zero();

  bool operator==(const TimeBasedFilter&) const = default;
};

/// Errc::invalid_argument if minimum_separation is negative.
Status check_consistent(const TimeBasedFilter& policy);

/// "minimum_separation 1 s".
std::string to_string(const TimeBasedFilter& policy);

}  // namespace llamada::qos
