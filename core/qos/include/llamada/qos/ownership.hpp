#pragma once

#include "llamada/base/result.hpp"
#include "llamada/qos/policy.hpp"

namespace llamada::qos {

enum class OwnershipKind : std::uint8_t { shared, exclusive };

std::span<const KindName<OwnershipKind>> kind_names(OwnershipKind);

/// OWNERSHIP (DDS 1.4, 2.2.3.9): whether several writers may update one instance, or only the strongest that
/// is alive. Not changeable once enabled.
struct Ownership {
  static constexpr PolicyId id = PolicyId::ownership;

  OwnershipKind kind = OwnershipKind::shared;

  bool operator==(const Ownership&) const = default;
};

/// Errc::incompatible, and why, if the kinds differ.
Status check_compatible(const Ownership& offered, const Ownership& requested);

/// "SHARED".
std::string to_string(const Ownership& policy);

}  // namespace llamada::qos
