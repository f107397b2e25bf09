#include "llamada/qos/durability_service.hpp"

#include "llamada/qos/resource_limits.hpp"

namespace llamada::qos {
namespace {

History history_of(const DurabilityService& policy) { return {policy.history_kind, policy.history_depth}; }

ResourceLimits limits_of(const DurabilityService& policy) {
  return {policy.max_samples, policy.max_instances, policy.max_samples_per_instance};
}

}  // namespace

Status check_consistent(const DurabilityService& policy) {
  if (policy.service_cleanup_delay < Duration::zero()) {
    return failure(Errc::invalid_argument,
                   "DURABILITY_SERVICE: service_cleanup_delay is {}; it must not be negative",
                   to_string(policy.service_cleanup_delay));
  }
  for (const Status& status : {check_consistent(history_of(policy)), check_consistent(limits_of(policy)),
                               check_consistent(limits_of(policy), history_of(policy))}) {
    if (!status) return tl::unexpected<Error>(status.error().within("DURABILITY_SERVICE"));
  }
  return {};
}

std::string to_string(const DurabilityService& policy) {
  return fmt::format("service_cleanup_delay {}, {}, {}", to_string(policy.service_cleanup_delay),
                     to_string(history_of(policy)), to_string(limits_of(policy)));
}

}  // namespace llamada::qos
