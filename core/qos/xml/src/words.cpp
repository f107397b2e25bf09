#include "words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "llamada/base/nearest_word.hpp"

namespace llamada::qos::xml {

Character first_character(std::string_view text) {
  const auto byte = [text](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  if (text.empty()) return {};
  if (byte(0) < 0x80) return {1, byte(0)};
  const std::size_t length = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : byte(0) >= 0xc2 ? 2 : 0;
  if (length == 0 || text.size() < length) return {};
  char32_t code = byte(0) & (0x7fu >> length);
  for (std::size_t at = 1; at < length; ++at) {
    if ((byte(at) & 0xc0) != 0x80) return {};
    code = (code << 6) | (byte(at) & 0x3f);
  }
  constexpr std::array<char32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < least[length] || code > 0x10ffff || is_surrogate) return {};
  return {length, code};
}

bool is_printable(Character character) {
  const char32_t code = character.code;
  if (character.length == 0 || code < 0x20 || (code >= 0x7f && code < 0xa0)) return false;
  const bool is_mark = code == 0x200e || code == 0x200f || code == 0xfeff;
  const bool is_line_end = code == 0x2028 || code == 0x2029;
  const bool is_embedding = code >= 0x202a && code <= 0x202e;
  const bool is_isolate = code >= 0x2066 && code <= 0x2069;
  return !is_mark && !is_line_end && !is_embedding && !is_isolate;
}

std::string quoted(std::string_view text) {
  std::string out = "'";
  std::size_t at = 0;
  while (at < text.size() && at < quoted_length_max) {
    const Character character = first_character(text.substr(at));
    const std::string_view bytes = text.substr(at, std::max<std::size_t>(character.length, 1));
    if (is_printable(character)) {
      out += bytes;
    } else {
      for (const char each : bytes) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(each));
    }
    at += bytes.size();
  }
  return out + (at < text.size() ? "...'" : "'");
}

std::string listed(std::span<const std::string_view> names) {
  const auto shown = names.first(std::min(names.size(), listed_names_max));
  std::string out = fmt::format("{}", fmt::join(shown, ", "));
  if (shown.size() < names.size()) out += fmt::format(", ... (and {} more)", names.size() - shown.size());
  return out;
}

std::string suggestion(std::string_view word, std::span<const std::string_view> names) {
  return nearest_word_suggestion(word, names);
}

}  // namespace llamada::qos::xml
