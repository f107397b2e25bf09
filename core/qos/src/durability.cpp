#include "llamada/qos/durability.hpp"

#include <array>

namespace llamada::qos {

std::span<const KindName<DurabilityKind>> kind_names(DurabilityKind) {
  static constexpr std::array<KindName<DurabilityKind>, 4> names{{
      {DurabilityKind::volatile_, "VOLATILE"},
      {DurabilityKind::transient_local, "TRANSIENT_LOCAL"},
      {DurabilityKind::transient, "TRANSIENT"},
      {DurabilityKind::persistent, "PERSISTENT"},
  }};
  return names;
}

Status check_compatible(const Durability& offered, const Durability& requested) {
  if (offered.kind >= requested.kind) return {};
  return failure(Errc::incompatible, "reader requests {}, writer offers {}", to_string(requested.kind),
                 to_string(offered.kind));
}

std::string to_string(const Durability& policy) { return std::string(to_string(policy.kind)); }

}  // namespace llamada::qos
