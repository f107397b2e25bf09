#include "llamada/qos/reliability.hpp"

#include <array>

namespace llamada::qos {

std::span<const KindName<ReliabilityKind>> kind_names(ReliabilityKind) {
  static constexpr std::array<KindName<ReliabilityKind>, 2> names{{
      {ReliabilityKind::best_effort, "BEST_EFFORT"},
      {ReliabilityKind::reliable, "RELIABLE"},
  }};
  return names;
}

Status check_consistent(const Reliability& policy) {
  if (policy.max_blocking_time < Duration::zero()) {
    return failure(Errc::invalid_argument, "RELIABILITY: max_blocking_time is {}; it must not be negative",
                   to_string(policy.max_blocking_time));
  }
  return {};
}

Status check_compatible(const Reliability& offered, const Reliability& requested) {
  if (offered.kind >= requested.kind) return {};
  return failure(Errc::incompatible, "reader requests {}, writer offers {}", to_string(requested.kind),
                 to_string(offered.kind));
}

std::string to_string(const Reliability& policy) {
  return fmt::format("{}, max_blocking_time {}", to_string(policy.kind), to_string(policy.max_blocking_time));
}

}  // namespace llamada::qos
