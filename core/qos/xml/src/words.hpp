#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// The words of error messages: what stood there, what may stand there, and what was probably meant.
namespace llamada::qos::xml {

/// More names than these are counted in a message and not listed.
inline constexpr std::size_t listed_names_max = 24;
/// Longer foreign text is cut in a message.
inline constexpr std::size_t quoted_length_max = 60;

/// A character of UTF-8: its bytes, 1 to 4, and its code point.
struct Character {
  std::size_t length = 0;
  char32_t code = 0;
};

/// The character that `text` begins with; of length 0 if the bytes are not UTF-8 or there are none.
Character first_character(std::string_view text);

/// Whether a terminal shows the character as itself: no control character, and none that reorders the text
/// around it.
bool is_printable(Character character);

/// Foreign text in single quotes, cut between characters. Printable UTF-8 stays as it is; other bytes become
/// \xNN.
std::string quoted(std::string_view text);

/// "a, b, c", or "a, b, ... (and 7 more)".
std::string listed(std::span<const std::string_view> names);

/// "; did you mean 'KEEP_ALL'?", or nothing if no name is near.
std::string suggestion(std::string_view word, std::span<const std::string_view> names);

}  // namespace llamada::qos::xml
