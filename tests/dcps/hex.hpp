#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace llamada::dcps::test {

/// "-" for nothing, so that it is a word.
inline std::string hex_of(std::span<const std::byte> bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const std::byte each : bytes) {
    text += digits[std::to_integer<unsigned>(each) >> 4];
    text += digits[std::to_integer<unsigned>(each) & 15];
  }
  return text.empty() ? "-" : text;
}

inline std::vector<std::byte> bytes_of_hex(const std::string& text) {
  std::vector<std::byte> bytes;
  for (std::size_t k = 0; text != "-" && k + 1 < text.size(); k += 2) {
    bytes.push_back(static_cast<std::byte>(std::stoi(text.substr(k, 2), nullptr, 16)));
  }
  return bytes;
}

}  // namespace llamada::dcps::test
