#include "job_moves.hpp"

namespace llamada::launcher {

std::optional<MoveRequest> parse_move_request(std::string_view text) {
  constexpr std::string_view drain = "drain ";
  if (!text.starts_with(drain)) return std::nullopt;
  return MoveRequest{std::string(text.substr(drain.size()))};
}

}  // namespace llamada::launcher
