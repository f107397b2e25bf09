#include "llamada/qos/policy.hpp"

#include <fmt/format.h>

namespace llamada::qos {

std::string_view to_string(PolicyId policy) {
  switch (policy) {
    case PolicyId::durability:
      return "DURABILITY";
    case PolicyId::liveliness:
      return "LIVELINESS";
    case PolicyId::reliability:
      return "RELIABILITY";
    case PolicyId::history:
      return "HISTORY";
    case PolicyId::resource_limits:
      return "RESOURCE_LIMITS";
    case PolicyId::rank_replacement:
      return "rank_replacement";
  }
  return "?";
}

std::string to_string(Duration duration) {
  if (duration == duration_infinite) return "infinite";
  const std::int64_t count = duration.count();
  if (count % 1'000'000'000 == 0) return fmt::format("{} s", count / 1'000'000'000);
  if (count % 1'000'000 == 0) return fmt::format("{} ms", count / 1'000'000);
  if (count % 1'000 == 0) return fmt::format("{} us", count / 1'000);
  return fmt::format("{} ns", count);
}

std::string length_to_string(std::int32_t length) {
  return length == length_unlimited ? "LENGTH_UNLIMITED" : fmt::format("{}", length);
}

}  // namespace llamada::qos
