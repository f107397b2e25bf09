#include "llamada/qos/latency_budget.hpp"

namespace llamada::qos {

Status check_consistent(const LatencyBudget& policy) {
  if (policy.duration < Duration::zero()) {
    return failure(Errc::invalid_argument, "LATENCY_BUDGET: duration is {}; it must not be negative",
                   to_string(policy.duration));
  }
  return {};
}

Status check_compatible(const LatencyBudget& offered, const LatencyBudget& requested) {
  if (offered.duration <= requested.duration) return {};
  return failure(Errc::incompatible, "reader requests duration {}, writer offers {}",
                 to_string(requested.duration), to_string(offered.duration));
}

std::string to_string(const LatencyBudget& policy) {
  return fmt::format("duration {}", to_string(policy.duration));
}

}  // namespace llamada::qos
