#pragma once

#include "llamada/base/result.hpp"
#include "llamada/qos/policy.hpp"

namespace llamada::qos {

/// SEND_WINDOW, no policy of the standard: RTI's rtps_reliable_writer/{min,max}_send_window_size. How many
/// samples that a reliable reader has not acknowledged a RELIABLE writer may have under way; a write beyond
/// waits up to max_blocking_time. Not changeable once enabled; nothing to match.
struct SendWindow {
  static constexpr PolicyId id = PolicyId::send_window;

  /// The window that a writer starts with. At least 1, or LENGTH_UNLIMITED; not above max.
  std::int32_t min = length_unlimited;
  /// The window that it may grow to. At least 1, or LENGTH_UNLIMITED.
  std::int32_t max = length_unlimited;

  bool operator==(const SendWindow&) const = default;
};

/// Errc::invalid_argument if a bound is outside its range or min is above max.
Status check_consistent(const SendWindow& policy);

/// "min 32, max 256".
std::string to_string(const SendWindow& policy);

}  // namespace llamada::qos
