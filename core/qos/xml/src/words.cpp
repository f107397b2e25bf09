#include "words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace llamada::qos::xml {
namespace {

// A longer word is no slip of the pen, and the distance takes time by the product of the lengths.
constexpr std::size_t near_word_length_max = 64;

char lower(char character) {
  return character >= 'A' && character <= 'Z' ? static_cast<char>(character - 'A' + 'a') : character;
}

std::size_t edit_distance(std::string_view left, std::string_view right) {
  std::vector<std::size_t> row(right.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= left.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= right.size(); ++j) {
      const std::size_t changed = diagonal + (lower(left[i - 1]) == lower(right[j - 1]) ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, changed});
    }
  }
  return row.back();
}

}  // namespace

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

std::string_view nearest(std::string_view word, std::span<const std::string_view> names) {
  if (word.size() > near_word_length_max) return {};
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  std::string_view best;
  for (std::string_view name : names) {
    const std::size_t longer = std::max(name.size(), word.size());
    if (longer - std::min(name.size(), word.size()) >= best_distance) continue;
    const std::size_t distance = edit_distance(word, name);
    if (distance >= best_distance || distance >= longer) continue;
    best_distance = distance;
    best = name;
  }
  return best;
}

std::string suggestion(std::string_view word, std::span<const std::string_view> names) {
  const std::string_view name = nearest(word, names);
  return name.empty() ? "" : fmt::format("; did you mean '{}'?", name);
}

}  // namespace llamada::qos::xml
