#pragma once

#include <algorithm>
#include <cstdint>

#include "llamada/qos/entity_qos.hpp"

namespace llamada::mpi {

/// How many point-to-point messages a rank may have under way: published, and not yet taken in by the
/// receiving rank's library (matched, or put aside for a later receive). A sender at a bound waits, and goes
/// on taking in what others send, so that two ranks at their bounds free each other.
struct SendBounds {
  static constexpr std::uint64_t none = UINT64_MAX;

  /// To one other rank: SEND_WINDOW's max and RESOURCE_LIMITS' max_samples_per_instance.
  std::uint64_t to_one_max = none;
  /// To all ranks together: RESOURCE_LIMITS' max_samples.
  std::uint64_t to_all_max = none;

  static SendBounds of(const qos::DataWriterQos& writer) {
    const auto bound = [](std::int32_t length) {
      return length == qos::length_unlimited ? none : static_cast<std::uint64_t>(length);
    };
    return {std::min(bound(writer.send_window.max), bound(writer.resource_limits.max_samples_per_instance)),
            bound(writer.resource_limits.max_samples)};
  }

  bool any() const { return to_one_max != none || to_all_max != none; }
  /// A receiver tells the sender each time it has taken in so many of its messages; 0: never. A sender at its
  /// bound always hears, since so many are under way to the one, or one to each of the others.
  std::uint64_t told_after() const {
    if (to_all_max != none) return 1;
    return to_one_max == none ? 0 : std::max<std::uint64_t>(1, to_one_max / 2);
  }
};

}  // namespace llamada::mpi
