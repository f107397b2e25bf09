#pragma once

#include "llamada/base/result.hpp"
#include "llamada/qos/history.hpp"
#include "llamada/qos/policy.hpp"

namespace llamada::qos {

/// DURABILITY_SERVICE (DDS 1.4, 2.2.3.5): the history and limits with which llamada-persistd keeps the
/// samples of TRANSIENT and PERSISTENT writers, and how long it keeps a disposed instance. Not changeable
/// once enabled; nothing to match.
struct DurabilityService {
  static constexpr PolicyId id = PolicyId::durability_service;

  Duration service_cleanup_delay = Duration::zero();
  HistoryKind history_kind = HistoryKind::keep_last;
  std::int32_t history_depth = 1;
  std::int32_t max_samples = length_unlimited;
  std::int32_t max_instances = length_unlimited;
  std::int32_t max_samples_per_instance = length_unlimited;

  bool operator==(const DurabilityService&) const = default;
};

/// Errc::invalid_argument as History and ResourceLimits with these fields say, or if the delay is negative.
Status check_consistent(const DurabilityService& policy);

/// "service_cleanup_delay 0 s, KEEP_LAST, depth 1, max_samples LENGTH_UNLIMITED, ...".
std::string to_string(const DurabilityService& policy);

}  // namespace llamada::qos
