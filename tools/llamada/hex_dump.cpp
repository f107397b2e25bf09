#include "hex_dump.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llamada::tools {
namespace {

constexpr std::size_t bytes_per_line = 16;

std::string line(std::span<const std::byte> bytes, std::size_t offset) {
  std::string digits;
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = std::to_integer<unsigned>(bytes[i]);
    digits += fmt::format("{:02x}{}", byte, i == 7 ? "  " : " ");
    text += byte >= 0x20 && byte < 0x7f ? static_cast<char>(byte) : '.';
  }
  return fmt::format("  {:08x}  {:<50}|{}|\n", offset, digits, text);
}

}  // namespace

std::string hex_dump(std::span<const std::byte> bytes, std::size_t bytes_max) {
  const auto shown = bytes.first(std::min(bytes.size(), bytes_max));
  std::string out;
  for (std::size_t at = 0; at < shown.size(); at += bytes_per_line)
    out += line(shown.subspan(at, std::min(bytes_per_line, shown.size() - at)), at);
  if (shown.size() < bytes.size())
    out += fmt::format("  ... and {} bytes more\n", bytes.size() - shown.size());
  return out;
}

std::string hex_digits(std::span<const std::byte> bytes) {
  std::string out;
  out.reserve(2 * bytes.size());
  for (std::byte each : bytes) out += fmt::format("{:02x}", std::to_integer<unsigned>(each));
  return out;
}

}  // namespace llamada::tools
