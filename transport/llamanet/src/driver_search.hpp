#pragma once

#include "claim.hpp"
#include "llamada/llamanet/application.hpp"
#include "llamada/llamanet/start_driver.hpp"

namespace llamada::llamanet {

/// A driver that ends with its last application may do so just when somebody comes.
inline constexpr int start_attempts_max = 100;

/// Whether no driver of this user listens there.
inline bool is_absent(const Error& error) {
  return error.code() == Errc::closed || error.code() == Errc::permission_denied;
}

/// Calls `join` for the driver at options.socket_name; where another user holds that name, for the driver
/// that stands in for it. Starts one if there is none and the options say so. What join() returns, a Result,
/// is returned; errors closed and permission_denied mean that there is no driver.
template <typename Join>
auto join_driver(const ApplicationOptions& options, const Join& join) -> decltype(join(options)) {
  for (int attempt = 1;; ++attempt) {
    auto joined = join(options);
    if (joined || !is_absent(joined.error())) return joined;
    // A driver of ours that started while another user held the name has another one.
    auto stand_in = options;
    if (auto other = stand_in_for(options.socket_name)) {
      stand_in.socket_name = *other;
      auto found = join(stand_in);
      if (found || !is_absent(found.error())) return found;
    }
    // A driver that ends with its last application may do so under our hands: then another one is started.
    if (!options.start_driver || attempt == start_attempts_max) return joined;
    if (auto started = start_driver(options.driver_program, options.socket_name, options.driver_elsewhere);
        !started) {
      if (joined.error().code() == Errc::permission_denied) return joined;
      return propagate(started);
    }
  }
}

}  // namespace llamada::llamanet
