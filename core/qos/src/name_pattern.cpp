#include "llamada/qos/name_pattern.hpp"

#include <cstddef>
#include <optional>
#include <string>

#include "llamada/base/utf8.hpp"

namespace llamada::qos {
namespace {

constexpr std::size_t nowhere = std::u32string_view::npos;

std::u32string code_points(std::string_view text) {
  std::u32string points;
  while (!text.empty()) {
    points += first_code_point(text);
    text.remove_prefix(first_character_size(text));
  }
  return points;
}

bool is_between(char32_t point, char32_t first, char32_t last) { return first <= point && point <= last; }

bool is_of_class(std::u32string_view name, char32_t point) {
  const bool lower = is_between(point, U'a', U'z'), upper = is_between(point, U'A', U'Z');
  const bool digit = is_between(point, U'0', U'9'), graphic = is_between(point, U'!', U'~');
  const bool letter = lower || upper;
  if (name == U"alpha") return letter;
  if (name == U"lower") return lower;
  if (name == U"upper") return upper;
  if (name == U"digit") return digit;
  if (name == U"alnum") return letter || digit;
  if (name == U"xdigit") return digit || is_between(point, U'a', U'f') || is_between(point, U'A', U'F');
  if (name == U"space") return point == U' ' || is_between(point, U'\t', U'\r');
  if (name == U"blank") return point == U' ' || point == U'\t';
  if (name == U"punct") return graphic && !letter && !digit;
  if (name == U"graph") return graphic;
  if (name == U"print") return graphic || point == U' ';
  return name == U"cntrl" && (point < U' ' || point == 0x7f);
}

/// One element of a pattern, and where the next begins.
struct Step {
  bool fits = false;
  std::size_t next = 0;
};

/// The set that begins behind a '['.
class Set {
 public:
  Set(std::u32string_view pattern, std::size_t begin) : pattern_(pattern), at_(begin) {}

  /// Nothing: no ']' ends it, so the '[' is an ordinary character.
  std::optional<Step> judge(char32_t point) {
    const bool excludes = at_ < pattern_.size() && (pattern_[at_] == U'!' || pattern_[at_] == U'^');
    if (excludes) ++at_;
    bool has = false;
    for (bool first = true; at_ < pattern_.size(); first = false) {
      if (pattern_[at_] == U']' && !first) return Step{has != excludes, at_ + 1};
      const auto name = class_name();
      if (name.empty())
        has = takes_range(point) || has;
      else
        has = is_of_class(name, point) || has;
    }
    return std::nullopt;
  }

 private:
  /// Of "[:alpha:]"; empty: none is here.
  std::u32string_view class_name() {
    if (pattern_.substr(at_, 2) != U"[:") return {};
    const std::size_t end = pattern_.find(U":]", at_ + 2);
    if (end == nowhere) return {};
    const auto name = pattern_.substr(at_ + 2, end - at_ - 2);
    at_ = end + 2;
    return name;
  }

  char32_t take_point() {
    if (pattern_[at_] == U'\\' && at_ + 1 < pattern_.size()) ++at_;
    return pattern_[at_++];
  }

  /// A character, or a range such as a-z.
  bool takes_range(char32_t point) {
    const char32_t first = take_point();
    const bool is_range = at_ + 1 < pattern_.size() && pattern_[at_] == U'-' && pattern_[at_ + 1] != U']';
    if (!is_range) return point == first;
    ++at_;
    return is_between(point, first, take_point());
  }

  std::u32string_view pattern_;
  std::size_t at_;
};

/// What stands at `at`, which is no '*', against one character.
Step judge_one(std::u32string_view pattern, std::size_t at, char32_t point) {
  switch (pattern[at]) {
    case U'?':
      return {true, at + 1};
    case U'[':
      if (auto step = Set(pattern, at + 1).judge(point)) return *step;
      break;
    case U'\\':
      if (at + 1 == pattern.size()) return {false, at + 1};
      return {pattern[at + 1] == point, at + 2};
    default:
      break;
  }
  return {pattern[at] == point, at + 1};
}

}  // namespace

bool is_name_pattern(std::string_view name) { return name.find_first_of("*?[") != name.npos; }

// Walks once, and on a mismatch lets the last '*' take one character more.
bool fits_name_pattern(std::string_view pattern_text, std::string_view name_text) {
  const std::u32string pattern = code_points(pattern_text), name = code_points(name_text);
  std::size_t at = 0, in_pattern = 0, restart = 0, behind_star = nowhere;
  while (at < name.size()) {
    if (in_pattern < pattern.size() && pattern[in_pattern] == U'*') {
      behind_star = ++in_pattern;
      restart = at;
      continue;
    }
    const Step step = in_pattern < pattern.size() ? judge_one(pattern, in_pattern, name[at]) : Step{};
    if (step.fits) {
      ++at;
      in_pattern = step.next;
    } else if (behind_star != nowhere) {
      in_pattern = behind_star;
      at = ++restart;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of(U'*', in_pattern) == nowhere;
}

}  // namespace llamada::qos
