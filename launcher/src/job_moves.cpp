#include "job_moves.hpp"

#include <charconv>

namespace llamada::launcher {
namespace {

constexpr std::string_view drain = "drain ", migrate = "migrate ";

}  // namespace

std::optional<MoveRequest> parse_move_request(std::string_view text) {
  if (text.starts_with(drain)) return MoveRequest{std::nullopt, std::string(text.substr(drain.size()))};
  if (!text.starts_with(migrate)) return std::nullopt;
  text.remove_prefix(migrate.size());
  std::uint32_t rank = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, rank);
  if (read.ec != std::errc() || read.ptr == end || *read.ptr != ' ') return std::nullopt;
  return MoveRequest{rank, std::string(read.ptr + 1, end)};
}

}  // namespace llamada::launcher
