#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace llamada::launcher {

/// A tool asks a running job to let ranks go on elsewhere. It travels as the text of an `inject` message.
struct MoveRequest {
  std::optional<std::uint32_t> rank;  ///< that goes to the host; none: all ranks leave it
  std::string host;
  bool operator==(const MoveRequest&) const = default;
};

/// "drain HOST" or "migrate RANK HOST"; nothing: the text is something else. Pure.
std::optional<MoveRequest> parse_move_request(std::string_view text);

}  // namespace llamada::launcher
