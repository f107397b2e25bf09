#include "llamada/qos/presentation.hpp"

#include <array>

namespace llamada::qos {

std::span<const KindName<PresentationAccessScope>> kind_names(PresentationAccessScope) {
  static constexpr std::array<KindName<PresentationAccessScope>, 3> names{{
      {PresentationAccessScope::instance, "INSTANCE"},
      {PresentationAccessScope::topic, "TOPIC"},
      {PresentationAccessScope::group, "GROUP"},
  }};
  return names;
}

Status check_compatible(const Presentation& offered, const Presentation& requested) {
  if (offered.access_scope < requested.access_scope) {
    return failure(Errc::incompatible, "reader requests access_scope {}, writer offers {}",
                   to_string(requested.access_scope), to_string(offered.access_scope));
  }
  if (requested.coherent_access && !offered.coherent_access) {
    return failure(Errc::incompatible, "reader requests coherent_access true, writer offers false");
  }
  if (requested.ordered_access && !offered.ordered_access) {
    return failure(Errc::incompatible, "reader requests ordered_access true, writer offers false");
  }
  return {};
}

std::string to_string(const Presentation& policy) {
  return fmt::format("{}{}{}", to_string(policy.access_scope),
                     policy.coherent_access ? ", coherent_access" : "",
                     policy.ordered_access ? ", ordered_access" : "");
}

}  // namespace llamada::qos
