#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "llamada/base/result.hpp"
#include "llamada/launcher/inject.hpp"

namespace llamada::launcher {

/// The words of a rule, between blanks and tabs.
std::vector<std::string_view> words_of_rule(std::string_view text);
/// The same word in either case.
bool is_same_word(std::string_view a, std::string_view b);
/// Whether the word may name a function: MPI_…, MPIX_….
inline bool is_like_function(std::string_view word) {
  for (const std::string_view prefix : {"MPI_", "MPIX_", "LLAMADA_"})
    if (word.starts_with(prefix)) return word.size() > prefix.size();
  return false;
}
/// Decimal digits.
bool is_decimal(std::string_view word);

/// As parse_inject_rule(), without the nearest legal rule.
Result<InjectRule> read_inject_rule(std::string_view text);

/// The legal rule that is nearest to a text that is none, with the numbers and names of that text where they
/// fit. Always one that read_inject_rule() takes. Pure.
std::string nearest_inject_rule(std::string_view text);

}  // namespace llamada::launcher
