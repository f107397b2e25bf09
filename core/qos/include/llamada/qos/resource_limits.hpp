#pragma once

#include "llamada/base/result.hpp"
#include "llamada/qos/history.hpp"
#include "llamada/qos/policy.hpp"

namespace llamada::qos {

/// RESOURCE_LIMITS (DDS 1.4, 2.2.3.19): how much one writer or reader may hold, in samples and instances. The
/// memory of a node is bounded by RankReplacement::log_bytes_per_node instead. Each end has its own: there is
/// nothing to match.
struct ResourceLimits {
  static constexpr PolicyId id = PolicyId::resource_limits;

  std::int32_t max_samples = length_unlimited;
  std::int32_t max_instances = length_unlimited;
  std::int32_t max_samples_per_instance = length_unlimited;

  bool operator==(const ResourceLimits&) const = default;
};

/// Errc::invalid_argument if a limit is below 1 and not LENGTH_UNLIMITED, or an instance may hold more than
/// all together.
Status check_consistent(const ResourceLimits& policy);

/// Errc::invalid_argument if KEEP_LAST's depth does not fit max_samples_per_instance (or max_samples).
Status check_consistent(const ResourceLimits& policy, const History& history);

/// Errc::unsupported if max_instances is bounded, which no job of ranks enforces.
Status check_enforced(const ResourceLimits& policy);

/// "max_samples 100, max_instances LENGTH_UNLIMITED, max_samples_per_instance 10".
std::string to_string(const ResourceLimits& policy);

}  // namespace llamada::qos
