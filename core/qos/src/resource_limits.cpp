#include "llamada/qos/resource_limits.hpp"

namespace llamada::qos {
namespace {

Status check_limit(std::string_view name, std::int32_t limit) {
  if (limit >= 1 || limit == length_unlimited) return {};
  return failure(Errc::invalid_argument,
                 "RESOURCE_LIMITS: {} is {}; it must be at least 1 or LENGTH_UNLIMITED", name, limit);
}

bool above(std::int32_t value, std::int32_t limit) {
  if (limit == length_unlimited) return false;
  return value == length_unlimited || value > limit;
}

}  // namespace

Status check_consistent(const ResourceLimits& policy) {
  if (auto status = check_limit("max_samples", policy.max_samples); !status) return status;
  if (auto status = check_limit("max_instances", policy.max_instances); !status) return status;
  if (auto status = check_limit("max_samples_per_instance", policy.max_samples_per_instance); !status) {
    return status;
  }
  // The standard's defaults have LENGTH_UNLIMITED for an instance; one that nobody set is bounded by
  // max_samples.
  if (policy.max_samples_per_instance != length_unlimited &&
      above(policy.max_samples_per_instance, policy.max_samples)) {
    return failure(Errc::invalid_argument,
                   "RESOURCE_LIMITS: max_samples_per_instance {} is above max_samples {}; raise max_samples",
                   policy.max_samples_per_instance, policy.max_samples);
  }
  return {};
}

Status check_consistent(const ResourceLimits& policy, const History& history) {
  if (history.kind != HistoryKind::keep_last) return {};
  if (above(history.depth, policy.max_samples_per_instance)) {
    return failure(
        Errc::invalid_argument,
        "HISTORY: KEEP_LAST with depth {} does not fit RESOURCE_LIMITS max_samples_per_instance {}; lower "
        "depth or raise max_samples_per_instance",
        history.depth, policy.max_samples_per_instance);
  }
  if (above(history.depth, policy.max_samples)) {
    return failure(
        Errc::invalid_argument,
        "HISTORY: KEEP_LAST with depth {} does not fit RESOURCE_LIMITS max_samples {}; lower depth or "
        "raise max_samples",
        history.depth, policy.max_samples);
  }
  return {};
}

Status check_enforced(const ResourceLimits& policy) {
  if (policy.max_instances == length_unlimited) return {};
  return failure(Errc::unsupported,
                 "RESOURCE_LIMITS: max_instances {} is not enforced for ranks, whose instances are the ranks "
                 "that they send to; leave it LENGTH_UNLIMITED",
                 policy.max_instances);
}

std::string to_string(const ResourceLimits& policy) {
  return fmt::format("max_samples {}, max_instances {}, max_samples_per_instance {}",
                     length_to_string(policy.max_samples), length_to_string(policy.max_instances),
                     length_to_string(policy.max_samples_per_instance));
}

}  // namespace llamada::qos
