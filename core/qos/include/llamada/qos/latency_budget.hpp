#pragma once

#include "llamada/base/result.hpp"
#include "llamada/qos/policy.hpp"

namespace llamada::qos {

/// LATENCY_BUDGET (DDS 1.4, 2.2.3.8): how long a sample may be held back so that several travel together. A
/// hint. Changeable.
struct LatencyBudget {
  static constexpr PolicyId id = PolicyId::latency_budget;

  Duration duration = Duration::zero();

  bool operator==(const LatencyBudget&) const = default;
};

/// Errc::invalid_argument if duration is negative.
Status check_consistent(const LatencyBudget& policy);

/// Errc::incompatible, and why, if the duration offered is longer than the one requested.
Status check_compatible(const LatencyBudget& offered, const LatencyBudget& requested);

/// "duration 10 ms".
std::string to_string(const LatencyBudget& policy);

}  // namespace llamada::qos
