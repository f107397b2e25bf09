#include "llamada/qos/send_window.hpp"

namespace llamada::qos {

namespace {

Status check_bound(std::string_view name, std::int32_t bound) {
  if (bound >= 1 || bound == length_unlimited) return {};
  return failure(Errc::invalid_argument, "SEND_WINDOW: {} is {}; it must be at least 1 or LENGTH_UNLIMITED",
                 name, bound);
}

}  // namespace

Status check_consistent(const SendWindow& policy) {
  if (auto status = check_bound("min", policy.min); !status) return status;
  if (auto status = check_bound("max", policy.max); !status) return status;
  if (policy.max == length_unlimited || (policy.min != length_unlimited && policy.min <= policy.max))
    return {};
  return failure(Errc::invalid_argument, "SEND_WINDOW: min {} is above max {}; lower min",
                 length_to_string(policy.min), policy.max);
}

std::string to_string(const SendWindow& policy) {
  return fmt::format("min {}, max {}", length_to_string(policy.min), length_to_string(policy.max));
}

}  // namespace llamada::qos
