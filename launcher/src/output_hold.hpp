#pragma once

#include <cstddef>

namespace llamada::launcher {

/// While a link has more than this to send, the ranks' pipes are left alone, and the ranks wait.
inline constexpr std::size_t queued_bytes_max = 1 << 20;
inline constexpr std::size_t queued_bytes_low = 256 << 10;

/// Whether what ranks write must not be read now; `is_held`: whether it is not.
inline bool must_hold_output(bool is_held, std::size_t queued_bytes) {
  return is_held ? queued_bytes > queued_bytes_low : queued_bytes > queued_bytes_max;
}

}  // namespace llamada::launcher
