#include "llamada/qos/ownership.hpp"

#include <array>

namespace llamada::qos {

std::span<const KindName<OwnershipKind>> kind_names(OwnershipKind) {
  static constexpr std::array<KindName<OwnershipKind>, 2> names{{
      {OwnershipKind::shared, "SHARED"},
      {OwnershipKind::exclusive, "EXCLUSIVE"},
  }};
  return names;
}

Status check_compatible(const Ownership& offered, const Ownership& requested) {
  if (offered.kind == requested.kind) return {};
  return failure(Errc::incompatible, "reader requests {}, writer offers {}", to_string(requested.kind),
                 to_string(offered.kind));
}

std::string to_string(const Ownership& policy) { return std::string(to_string(policy.kind)); }

}  // namespace llamada::qos
