#pragma once

#include "llamada/base/result.hpp"
#include "llamada/qos/policy.hpp"

namespace llamada::qos {

/// In the order of strength: a writer satisfies a reader that requests its kind or a lower one.
enum class DurabilityKind : std::uint8_t { volatile_, transient_local, transient, persistent };

std::span<const KindName<DurabilityKind>> kind_names(DurabilityKind);

/// DURABILITY (DDS 1.4, 2.2.3.4): what a reader that comes late still gets, and so what can be read again
/// after a death.
struct Durability {
  static constexpr PolicyId id = PolicyId::durability;

  DurabilityKind kind = DurabilityKind::volatile_;

  bool operator==(const Durability&) const = default;
};

/// Errc::incompatible, and why, if a writer that offers the one does not satisfy a reader that requests the
/// other.
Status check_compatible(const Durability& offered, const Durability& requested);

/// "TRANSIENT_LOCAL".
std::string to_string(const Durability& policy);

}  // namespace llamada::qos
