#include "llamada/qos/lifespan.hpp"

namespace llamada::qos {

Status check_consistent(const Lifespan& policy) {
  if (policy.duration <= Duration::zero()) {
    return failure(Errc::invalid_argument, "LIFESPAN: duration is {}; it must be above 0",
                   to_string(policy.duration));
  }
  return {};
}

std::string to_string(const Lifespan& policy) {
  return fmt::format("duration {}", to_string(policy.duration));
}

}  // namespace llamada::qos
