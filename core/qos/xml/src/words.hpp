#pragma once

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

/// Foreign text in single quotes, cut, with everything that is not printable ASCII as \xNN.
std::string quoted(std::string_view text);

/// "a, b, c", or "a, b, ... (and 7 more)".
std::string listed(std::span<const std::string_view> names);

/// The name nearest to `word` by edit distance, letters' case aside; empty if none is near enough.
std::string_view nearest(std::string_view word, std::span<const std::string_view> names);

/// "; did you mean 'KEEP_ALL'?", or nothing if no name is near.
std::string suggestion(std::string_view word, std::span<const std::string_view> names);

}  // namespace llamada::qos::xml
