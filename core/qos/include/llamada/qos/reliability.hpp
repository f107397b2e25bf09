#pragma once

#include "llamada/base/result.hpp"
#include "llamada/qos/policy.hpp"

namespace llamada::qos {

/// In the order of strength: a writer satisfies a reader that requests its kind or a lower one.
enum class ReliabilityKind : std::uint8_t { best_effort, reliable };

std::span<const KindName<ReliabilityKind>> kind_names(ReliabilityKind);

/// RELIABILITY (DDS 1.4, 2.2.3.14): whether a sample may be lost. The default of a reader and of a topic;
/// that of a writer is RELIABLE (DataWriterQos).
struct Reliability {
  static constexpr PolicyId id = PolicyId::reliability;

  ReliabilityKind kind = ReliabilityKind::best_effort;
  /// How long a write may wait for room. May be infinite.
  Duration max_blocking_time = std::chrono::milliseconds(100);

  bool operator==(const Reliability&) const = default;
};

/// Errc::invalid_argument if a field is outside its range.
Status check_consistent(const Reliability& policy);

/// Errc::incompatible, and why, if a writer that offers the one does not satisfy a reader that requests the
/// other.
Status check_compatible(const Reliability& offered, const Reliability& requested);

/// "RELIABLE, max_blocking_time 100 ms".
std::string to_string(const Reliability& policy);

}  // namespace llamada::qos
