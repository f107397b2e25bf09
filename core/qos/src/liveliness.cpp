#include "llamada/qos/liveliness.hpp"

#include <array>

namespace llamada::qos {

std::span<const KindName<LivelinessKind>> kind_names(LivelinessKind) {
  static constexpr std::array<KindName<LivelinessKind>, 3> names{{
      {LivelinessKind::automatic, "AUTOMATIC"},
      {LivelinessKind::manual_by_participant, "MANUAL_BY_PARTICIPANT"},
      {LivelinessKind::manual_by_topic, "MANUAL_BY_TOPIC"},
  }};
  return names;
}

Status check_consistent(const Liveliness& policy) {
  if (policy.lease_duration <= Duration::zero()) {
    return failure(Errc::invalid_argument, "LIVELINESS: lease_duration is {}; it must be above 0",
                   to_string(policy.lease_duration));
  }
  return {};
}

Status check_compatible(const Liveliness& offered, const Liveliness& requested) {
  if (offered.kind < requested.kind) {
    return failure(Errc::incompatible, "reader requests {}, writer offers {}", to_string(requested.kind),
                   to_string(offered.kind));
  }
  if (offered.lease_duration > requested.lease_duration) {
    return failure(Errc::incompatible, "reader requests lease_duration {}, writer offers {}",
                   to_string(requested.lease_duration), to_string(offered.lease_duration));
  }
  return {};
}

Status check_enforced(const Liveliness& policy) {
  if (policy.lease_duration == duration_infinite) return {};
  return failure(Errc::unsupported, "LIVELINESS: lease_duration {} is not enforced yet; leave it infinite",
                 to_string(policy.lease_duration));
}

std::string to_string(const Liveliness& policy) {
  return fmt::format("{}, lease_duration {}", to_string(policy.kind), to_string(policy.lease_duration));
}

}  // namespace llamada::qos
