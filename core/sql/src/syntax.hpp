#pragma once

#include "lexer.hpp"

namespace llamada::sql::detail {

enum class Operator : std::uint8_t { equal, unequal, less, less_equal, greater, greater_equal, like };

/// A parsed expression: trees of conditions over tokens that name fields, literals and parameters.
struct Condition {
  enum class Kind : std::uint8_t { everything, all_of, any_of, not_, comparison, between, in };

  Kind kind = Kind::everything;
  std::vector<Condition> children;
  /// Two for comparisons, three for BETWEEN; for IN the field and the values.
  std::vector<Token> operands;
  Operator operator_ = Operator::equal;
  /// Where the predicate's operator stands.
  std::size_t column = 1;
};

struct Syntax {
  Condition condition;
  std::vector<Token> order_by;
};

/// Errors: parse_error.
Result<Syntax> parse(std::string_view expression, bool is_query);

}  // namespace llamada::sql::detail
