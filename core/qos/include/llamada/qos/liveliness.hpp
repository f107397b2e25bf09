#pragma once

#include "llamada/base/result.hpp"
#include "llamada/qos/policy.hpp"

namespace llamada::qos {

/// In the order of strength: a writer satisfies a reader that requests its kind or a lower one.
enum class LivelinessKind : std::uint8_t { automatic, manual_by_participant, manual_by_topic };

std::span<const KindName<LivelinessKind>> kind_names(LivelinessKind);

/// LIVELINESS (DDS 1.4, 2.2.3.11): how a writer shows that it lives. The death of a process on the same node
/// is always seen at once; the lease finds what hangs.
struct Liveliness {
  static constexpr PolicyId id = PolicyId::liveliness;

  LivelinessKind kind = LivelinessKind::automatic;
  /// How long a writer may go without a sign of life. Above 0.
  Duration lease_duration = duration_infinite;

  bool operator==(const Liveliness&) const = default;
};

/// Errc::invalid_argument if lease_duration is not above 0.
Status check_consistent(const Liveliness& policy);

/// Errc::incompatible, and why: the kind offered must be as strong, the lease offered not longer.
Status check_compatible(const Liveliness& offered, const Liveliness& requested);

/// The shortest lease that a job of ranks enforces.
inline constexpr Duration rank_lease_min = std::chrono::milliseconds(100);

/// Errc::unsupported for a lease that a job of ranks does not enforce: of MANUAL_BY_TOPIC, or one shorter
/// than rank_lease_min.
Status check_enforced(const Liveliness& policy);

/// "AUTOMATIC, lease_duration infinite".
std::string to_string(const Liveliness& policy);

}  // namespace llamada::qos
