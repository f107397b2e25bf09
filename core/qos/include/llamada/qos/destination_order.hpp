#pragma once

#include "llamada/base/result.hpp"
#include "llamada/qos/policy.hpp"

namespace llamada::qos {

/// In the order of strength: a writer satisfies a reader that requests its kind or a lower one.
enum class DestinationOrderKind : std::uint8_t { by_reception_timestamp, by_source_timestamp };

std::span<const KindName<DestinationOrderKind>> kind_names(DestinationOrderKind);

/// DESTINATION_ORDER (DDS 1.4, 2.2.3.17): by which clock a reader orders the samples of several writers of an
/// instance. By the source's, all readers end with the same value. Not changeable once enabled.
struct DestinationOrder {
  static constexpr PolicyId id = PolicyId::destination_order;

  DestinationOrderKind kind = DestinationOrderKind::by_reception_timestamp;

  bool operator==(const DestinationOrder&) const = default;
};

/// Errc::incompatible, and why, if a writer that offers the one does not satisfy a reader that requests the
/// other.
Status check_compatible(const DestinationOrder& offered, const DestinationOrder& requested);

/// "BY_SOURCE_TIMESTAMP".
std::string to_string(const DestinationOrder& policy);

}  // namespace llamada::qos
