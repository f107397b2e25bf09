#include "llamada/qos/deadline.hpp"

namespace llamada::qos {

Status check_consistent(const Deadline& policy) {
  if (policy.period <= Duration::zero()) {
    return failure(Errc::invalid_argument, "DEADLINE: period is {}; it must be above 0",
                   to_string(policy.period));
  }
  return {};
}

Status check_compatible(const Deadline& offered, const Deadline& requested) {
  if (offered.period <= requested.period) return {};
  return failure(Errc::incompatible, "reader requests period {}, writer offers {}",
                 to_string(requested.period), to_string(offered.period));
}

std::string to_string(const Deadline& policy) { return fmt::format("period {}", to_string(policy.period)); }

}  // namespace llamada::qos
