#pragma once

#include "llamada/base/result.hpp"
#include "llamada/qos/policy.hpp"

namespace llamada::qos {

/// In the order of strength: a publisher satisfies a subscriber that requests its scope or a lower one.
enum class PresentationAccessScope : std::uint8_t { instance, topic, group };

std::span<const KindName<PresentationAccessScope>> kind_names(PresentationAccessScope);

/// PRESENTATION (DDS 1.4, 2.2.3.6): over what the order of changes and the wholeness of sets of changes hold.
/// Publishers and subscribers have it. Not changeable once enabled.
struct Presentation {
  static constexpr PolicyId id = PolicyId::presentation;

  PresentationAccessScope access_scope = PresentationAccessScope::instance;
  /// Changes between begin_coherent_changes() and end_coherent_changes() are seen all or not at all.
  bool coherent_access = false;
  /// Changes are seen in the order in which they were made, within the scope.
  bool ordered_access = false;

  bool operator==(const Presentation&) const = default;
};

/// Errc::incompatible, and why: the scope offered must be as wide, and what is requested as coherent or
/// ordered must be offered so.
Status check_compatible(const Presentation& offered, const Presentation& requested);

/// "INSTANCE", "GROUP, coherent_access, ordered_access".
std::string to_string(const Presentation& policy);

}  // namespace llamada::qos
