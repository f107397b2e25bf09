#pragma once

#include "llamada/sql/filter.hpp"
#include "values.hpp"

namespace llamada::sql::detail {

/// A field of the program's type, or a constant.
struct Operand {
  std::size_t field = no_field;
  Value constant;

  static constexpr std::size_t no_field = SIZE_MAX;
};

/// A condition whose names, literals and parameters have become fields and values.
struct Check {
  Condition::Kind kind = Condition::Kind::everything;
  Operator operator_ = Operator::equal;
  std::vector<Check> children;
  std::vector<Operand> operands;
};

struct Program {
  std::string expression;
  std::vector<std::string> parameters;
  bool is_query = false;
  const types::FieldSource* type = nullptr;
  std::vector<types::Field> fields;
  Check check;
  std::vector<std::size_t> order_by;
};

/// Resolves names and checks types. Errors: parse_error.
Status bind(const Syntax& syntax, Program& program);

}  // namespace llamada::sql::detail
