#pragma once

#include "llamada/base/result.hpp"
#include "llamada/qos/policy.hpp"

namespace llamada::qos {

/// LIFESPAN (DDS 1.4, 2.2.3.16): how long after its source timestamp a sample is valid; an older one is
/// removed from every cache and not delivered. Changeable; nothing to match.
struct Lifespan {
  static constexpr PolicyId id = PolicyId::lifespan;

  /// Above 0.
  Duration duration = duration_infinite;

  bool operator==(const Lifespan&) const = default;
};

/// Errc::invalid_argument if duration is not above 0.
Status check_consistent(const Lifespan& policy);

/// "duration 5 s".
std::string to_string(const Lifespan& policy);

}  // namespace llamada::qos
