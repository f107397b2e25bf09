#include "llamada/qos/destination_order.hpp"

#include <array>

namespace llamada::qos {

std::span<const KindName<DestinationOrderKind>> kind_names(DestinationOrderKind) {
  static constexpr std::array<KindName<DestinationOrderKind>, 2> names{{
      {DestinationOrderKind::by_reception_timestamp, "BY_RECEPTION_TIMESTAMP"},
      {DestinationOrderKind::by_source_timestamp, "BY_SOURCE_TIMESTAMP"},
  }};
  return names;
}

Status check_compatible(const DestinationOrder& offered, const DestinationOrder& requested) {
  if (offered.kind >= requested.kind) return {};
  return failure(Errc::incompatible, "reader requests {}, writer offers {}", to_string(requested.kind),
                 to_string(offered.kind));
}

std::string to_string(const DestinationOrder& policy) { return std::string(to_string(policy.kind)); }

}  // namespace llamada::qos
