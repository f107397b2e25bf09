#include "values.hpp"

#include <type_traits>
#include <utility>

#include "llamada/base/utf8.hpp"

namespace llamada::sql::detail {

namespace {

template <typename A, typename B>
constexpr bool are_integers =
    std::is_integral_v<A>&& std::is_integral_v<B> && !std::is_same_v<A, bool> && !std::is_same_v<B, bool>;
template <typename A, typename B>
constexpr bool are_numbers =
    std::is_arithmetic_v<A>&& std::is_arithmetic_v<B> && !std::is_same_v<A, bool> && !std::is_same_v<B, bool>;

template <typename A, typename B>
std::partial_ordering compare_two(const A& a, const B& b) {
  if constexpr (are_integers<A, B>) {
    if (std::cmp_equal(a, b)) return std::partial_ordering::equivalent;
    return std::cmp_less(a, b) ? std::partial_ordering::less : std::partial_ordering::greater;
  } else if constexpr (are_numbers<A, B>) {
    // A long double has 64 bits of mantissa: every integer is itself.
    static_assert(__LDBL_MANT_DIG__ >= 64);
    return static_cast<long double>(a) <=> static_cast<long double>(b);
  } else if constexpr (std::is_same_v<A, B> && !std::is_same_v<A, std::monostate>) {
    return a <=> b;
  } else {
    return std::partial_ordering::unordered;
  }
}

}  // namespace

std::partial_ordering compare(const Value& a, const Value& b) {
  return std::visit([](const auto& left, const auto& right) { return compare_two(left, right); }, a, b);
}

bool holds(Operator operator_, const Value& left, const Value& right) {
  if (left.index() == 0 || right.index() == 0) return false;
  if (operator_ == Operator::like) {
    const auto* text = std::get_if<std::string>(&left);
    const auto* pattern = std::get_if<std::string>(&right);
    return text != nullptr && pattern != nullptr && is_like(*text, *pattern);
  }
  const auto order = compare(left, right);
  switch (operator_) {
    case Operator::equal:
      return order == 0;
    case Operator::unequal:
      return order != 0;
    case Operator::less:
      return order < 0;
    case Operator::less_equal:
      return order <= 0;
    case Operator::greater:
      return order > 0;
    default:
      return order >= 0;
  }
}

/// Walks once, and on a mismatch lets the last '%' take one character more: at most |text| times |pattern|
/// steps. Characters are those of UTF-8.
bool is_like(std::string_view text, std::string_view pattern) {
  std::size_t at = 0, in_pattern = 0, restart = 0;
  std::size_t behind_percent = std::string_view::npos;
  while (at < text.size()) {
    if (in_pattern < pattern.size() && pattern[in_pattern] == '%') {
      behind_percent = ++in_pattern;
      restart = at;
    } else if (in_pattern < pattern.size() && pattern[in_pattern] == '_') {
      at += first_character_size(text.substr(at));
      in_pattern++;
    } else if (in_pattern < pattern.size() && pattern[in_pattern] == text[at]) {
      at++;
      in_pattern++;
    } else if (behind_percent != std::string_view::npos) {
      in_pattern = behind_percent;
      at = restart += first_character_size(text.substr(restart));
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('%', in_pattern) == std::string_view::npos;
}

}  // namespace llamada::sql::detail
