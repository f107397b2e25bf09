#include "llamada/base/nearest_word.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace llamada {
namespace {

// A longer word is no slip of the pen, and the distance takes time by the product of the lengths.
constexpr std::size_t near_word_length_max = 64;

char lower(char character) {
  return character >= 'A' && character <= 'Z' ? static_cast<char>(character - 'A' + 'a') : character;
}

}  // namespace

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

std::string_view nearest_word(std::string_view word, std::span<const std::string_view> names) {
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

std::string nearest_word_suggestion(std::string_view word, std::span<const std::string_view> names) {
  const std::string_view name = nearest_word(word, names);
  return name.empty() ? "" : fmt::format("; did you mean '{}'?", name);
}

}  // namespace llamada
