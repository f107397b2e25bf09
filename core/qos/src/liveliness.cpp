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
  if (policy.kind == LivelinessKind::manual_by_topic)
    return failure(Errc::unsupported,
                   "LIVELINESS: MANUAL_BY_TOPIC with a lease is not enforced for ranks; set "
                   "MANUAL_BY_PARTICIPANT, which a rank meets by entering MPI");
  if (policy.lease_duration < rank_lease_min)
    return failure(Errc::unsupported,
                   "LIVELINESS: lease_duration {} is too short for ranks, because a busy machine lets "
                   "processes wait that long; set {} or more",
                   to_string(policy.lease_duration), to_string(rank_lease_min));
  return {};
}

std::string to_string(const Liveliness& policy) {
  return fmt::format("{}, lease_duration {}", to_string(policy.kind), to_string(policy.lease_duration));
}

}  // namespace llamada::qos
