#pragma once

#include <cstddef>
#include <string_view>

namespace llamada {

/// The bytes of the first character of a UTF-8 text, which is not empty. A byte that begins no whole
/// character counts as one, so that every text has an end. No locale has a say.
constexpr std::size_t first_character_size(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t size = first < 0xc2 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 1;
  if (size > text.size()) return 1;
  for (const char each : text.substr(1, size - 1))
    if ((static_cast<unsigned char>(each) & 0xc0) != 0x80) return 1;
  return size;
}

/// The code point of the first character; a byte that begins none is told apart from all characters.
constexpr char32_t first_code_point(std::string_view text) {
  constexpr char32_t behind_unicode = 0x110000;
  const std::size_t size = first_character_size(text);
  const auto first = static_cast<unsigned char>(text.front());
  if (size == 1) return first < 0x80 ? first : behind_unicode + first;
  char32_t point = first & (0x7fu >> size);
  for (const char each : text.substr(1, size - 1))
    point = point << 6 | (static_cast<unsigned char>(each) & 0x3fu);
  return point;
}

}  // namespace llamada
