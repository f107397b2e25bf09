#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "inject_words.hpp"
#include "llamada/base/nearest_word.hpp"

// The nearest legal rule to a text: each form that rules have is laid beside the words of the text, as two
// spellings are compared, and the form that needs the fewest changes is filled with the text's own values.

namespace llamada::launcher {
namespace {

/// The forms of rules, the usual ones first. A word in capitals stands for a value.
constexpr std::string_view forms[] = {
    "kill rank RANK after TIME",
    "kill rank RANK at call COUNT",
    "kill rank RANK in FUNCTION COUNT",
    "kill rank RANK in FUNCTION",
    "kill rank RANK after TIME of incarnation COUNT",
    "kill rank RANK after TIME of replay",
    "kill rank RANK after TIME signal SIGNAL",
    "kill rank RANK at call COUNT of incarnation COUNT",
    "kill rank RANK at call COUNT signal SIGNAL",
    "kill rank RANK in FUNCTION COUNT of incarnation COUNT",
    "kill rank RANK in FUNCTION COUNT signal SIGNAL",
    "kill rank RANK in the middle of FUNCTION COUNT",
    "kill rank RANK at step POINT",
    "kill rank RANK every TIME",
    "kill any after TIME",
    "kill any after TIME seed SEED",
    "kill any every ~ TIME",
    "kill any every ~ TIME seed SEED",
    "kill any every ~ TIME COUNT times seed SEED",
    "kill any in FUNCTION COUNT",
    "kill driver",
    "kill driver after TIME",
    "kill mpirun",
    "kill mpirun after TIME",
    "kill node NAME after TIME",
    "pause node NAME after TIME for TIME",
    "stop rank RANK after TIME for TIME",
    "stop any every ~ TIME for TIME seed SEED",
    "slow rank RANK by PERCENT",
    "slow rank RANK by PERCENT after TIME for TIME",
    "memory full after SIZE of log",
};

/// What stands for a value that the text does not have.
struct Example {
  std::string_view name, value;
};
constexpr Example examples[] = {
    {"RANK", "1"},
    {"COUNT", "1"},
    {"TIME", "1 s"},
    {"PERCENT", "50 %"},
    {"SEED", "7"},
    {"SIGNAL", "SIGSEGV"},
    {"SIZE", "100 MiB"},
    {"FUNCTION", "MPI_Allreduce"},
    {"POINT", "publish:committed"},
    {"NAME", "node2"},
};

constexpr std::size_t words_max = 32;
// What changes cost. To leave a word of the text out is more than to take one that the text does not have,
// and a missing value is filled.
constexpr double left_out = 1;
constexpr double taken_word = 0.6;
constexpr double taken_value = 0.4;
constexpr double other_word = 1.5;
constexpr double other_value = 2;

std::string_view example_of(std::string_view name) {
  for (const Example& example : examples)
    if (example.name == name) return example.value;
  return {};
}

bool is_value(std::string_view word) { return !example_of(word).empty(); }

/// In parts of the longer word: 0 to 1.
double difference(std::string_view a, std::string_view b) {
  return static_cast<double>(edit_distance(a, b)) / static_cast<double>(std::max(a.size(), b.size()));
}

/// A number at the beginning of a word, and what stands behind it: "1", "s" of "1s".
struct Number {
  std::string_view digits, rest;
};
std::optional<Number> number_of(std::string_view word) {
  double value = 0;
  const auto read = std::from_chars(word.data(), word.data() + word.size(), value, std::chars_format::fixed);
  if (read.ec != std::errc() || !std::isfinite(value) || std::signbit(value)) return std::nullopt;
  const auto size = static_cast<std::size_t>(read.ptr - word.data());
  return Number{word.substr(0, size), word.substr(size)};
}

std::string time_from(const Number& number) {
  for (const std::string_view unit : {"ms", "us"})
    if (is_same_word(number.rest, unit)) return fmt::format("{} {}", number.digits, unit);
  return fmt::format("{} s", number.digits);
}

std::string size_from(const Number& number) {
  const char letter = number.rest.empty() ? 'M' : number.rest.front();
  const std::string_view unit = letter == 'k' || letter == 'K'   ? "KiB"
                                : letter == 'g' || letter == 'G' ? "GiB"
                                                                 : "MiB";
  return fmt::format("{} {}", number.digits, unit);
}

/// The word as a value of this kind, as rules write it; nothing if it is none.
std::optional<std::string> value_from(std::string_view word, std::string_view kind) {
  if (kind == "FUNCTION") {
    return is_like_function(word) ? std::optional(std::string(word)) : std::nullopt;
  }
  if (kind == "SIGNAL") return parse_signal(word) ? std::optional(std::string(word)) : std::nullopt;
  if (kind == "NAME") return is_decimal(word) ? std::nullopt : std::optional(std::string(word));
  if (kind == "POINT") return word.find(':') != word.npos ? std::optional(std::string(word)) : std::nullopt;
  const auto number = number_of(word);
  if (!number) return std::nullopt;
  if (kind == "TIME") return time_from(*number);
  if (kind == "SIZE") return size_from(*number);
  if (kind == "PERCENT") return fmt::format("{} %", number->digits);
  return is_decimal(word) ? std::optional(std::string(word)) : std::nullopt;
}

double cost_of(std::string_view word, std::string_view form_word) {
  if (is_value(form_word)) return value_from(word, form_word) ? 0 : other_value;
  if (is_like_function(word)) return other_value;
  return is_same_word(word, form_word) ? 0 : other_word * difference(word, form_word);
}

double cost_of_taking(std::string_view form_word) { return is_value(form_word) ? taken_value : taken_word; }

/// A form beside a text: what it costs, and which word of the text stands for each of its own.
struct Fit {
  double cost = std::numeric_limits<double>::infinity();
  std::vector<std::string_view> form;
  std::vector<std::optional<std::string_view>> words;
};

Fit lay_beside(std::span<const std::string_view> text, std::vector<std::string_view> form) {
  const std::size_t rows = text.size() + 1, columns = form.size() + 1;
  std::vector<double> cost(rows * columns);
  const auto at = [&](std::size_t i, std::size_t j) -> double& { return cost[i * columns + j]; };
  for (std::size_t i = 1; i < rows; ++i) at(i, 0) = at(i - 1, 0) + left_out;
  for (std::size_t j = 1; j < columns; ++j) at(0, j) = at(0, j - 1) + cost_of_taking(form[j - 1]);
  for (std::size_t i = 1; i < rows; ++i)
    for (std::size_t j = 1; j < columns; ++j)
      at(i, j) = std::min({at(i - 1, j - 1) + cost_of(text[i - 1], form[j - 1]), at(i - 1, j) + left_out,
                           at(i, j - 1) + cost_of_taking(form[j - 1])});
  Fit fit{at(rows - 1, columns - 1), std::move(form), {}};
  fit.words.resize(fit.form.size());
  for (std::size_t i = rows - 1, j = columns - 1; i > 0 && j > 0;) {
    if (at(i, j) == at(i - 1, j) + left_out) {
      --i;
    } else if (at(i, j) == at(i, j - 1) + cost_of_taking(fit.form[j - 1])) {
      --j;
    } else {
      fit.words[--j] = text[--i];
    }
  }
  return fit;
}

std::string filled(const Fit& fit, bool with_values) {
  std::string rule;
  for (std::size_t i = 0; i < fit.form.size(); ++i) {
    if (!rule.empty() && !rule.ends_with('~')) rule += ' ';
    if (!is_value(fit.form[i])) {
      rule += fit.form[i];
      continue;
    }
    const auto value = with_values && fit.words[i] ? value_from(*fit.words[i], fit.form[i]) : std::nullopt;
    rule += value.value_or(std::string(example_of(fit.form[i])));
  }
  return rule;
}

/// The words, with a number and its unit as one, and '~' as one of its own.
std::vector<std::string> joined_words(std::string_view text) {
  constexpr std::string_view units[] = {"s",   "ms",  "us",  "sec", "seconds", "second", "%",
                                        "KiB", "MiB", "GiB", "KB",  "MB",      "GB"};
  std::vector<std::string> joined;
  for (std::string_view word : words_of_rule(text)) {
    if (word.starts_with('~')) {
      joined.emplace_back("~");
      word.remove_prefix(1);
      if (word.empty()) continue;
    }
    const bool is_unit = std::any_of(std::begin(units), std::end(units),
                                     [&](std::string_view unit) { return is_same_word(unit, word); });
    const auto before = joined.empty() || !is_unit ? std::nullopt : number_of(joined.back());
    if (before && before->rest.empty())
      joined.back() += word;
    else
      joined.emplace_back(word);
  }
  joined.resize(std::min(joined.size(), words_max));
  return joined;
}

}  // namespace

std::string nearest_inject_rule(std::string_view text) {
  const std::vector<std::string> joined = joined_words(text);
  const std::vector<std::string_view> words(joined.begin(), joined.end());
  Fit best;
  for (const std::string_view form : forms)
    if (Fit fit = lay_beside(words, words_of_rule(form)); fit.cost < best.cost) best = std::move(fit);
  std::string rule = filled(best, true);
  // A value may be of the right kind, and too large.
  return read_inject_rule(rule) ? rule : filled(best, false);
}

}  // namespace llamada::launcher
