#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

// Finds the word that a person may have meant by an unknown one.
namespace llamada {

/// How many letters must be changed, left out or added to make one of the other, ignoring case.
std::size_t edit_distance(std::string_view left, std::string_view right);

/// The name nearest to `word` by edit distance, ignoring case; empty if none is near enough.
std::string_view nearest_word(std::string_view word, std::span<const std::string_view> names);

/// "; did you mean 'KEEP_ALL'?", or nothing if no name is near.
std::string nearest_word_suggestion(std::string_view word, std::span<const std::string_view> names);

}  // namespace llamada
