#include "llamada/qos/time_based_filter.hpp"

namespace llamada::qos {

Status check_consistent(const TimeBasedFilter& policy) {
  if (policy.minimum_separation < Duration::zero()) {
    return failure(Errc::invalid_argument,
                   "TIME_BASED_FILTER: minimum_separation is {}; it must not be negative",
                   to_string(policy.minimum_separation));
  }
  return {};
}

std::string to_string(const TimeBasedFilter& policy) {
  return fmt::format("minimum_separation {}", to_string(policy.minimum_separation));
}

}  // namespace llamada::qos
