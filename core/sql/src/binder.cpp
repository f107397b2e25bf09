#include <charconv>

#include "program.hpp"

namespace llamada::sql::detail {

namespace {

using types::Field;
using types::FieldKind;

template <typename Number>
std::optional<Number> number_in(std::string_view text, int base = 10) {
  if (text.starts_with('+')) text.remove_prefix(1);
  Number number{};
  const auto [end, error] = [&] {
    if constexpr (std::is_floating_point_v<Number>)
      return std::from_chars(text.data(), text.data() + text.size(), number);
    else
      return std::from_chars(text.data(), text.data() + text.size(), number, base);
  }();
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Integers as int64 where they fit, as uint64 where only that fits.
std::optional<Value> integer_in(std::string_view text) {
  if (const std::size_t x = text.find_first_of("xX"); x != std::string_view::npos) {
    const bool is_positive = text.substr(0, x) == "0" || text.substr(0, x) == "+0";
    const auto number = is_positive ? number_in<std::uint64_t>(text.substr(x + 1), 16) : std::nullopt;
    if (!number || !is_positive) return std::nullopt;
    return Value(*number);
  }
  if (const auto number = number_in<std::int64_t>(text)) return Value(*number);
  if (const auto number = number_in<std::uint64_t>(text)) return Value(*number);
  return std::nullopt;
}

std::optional<Value> number_value(const Token& token) {
  if (token.kind == TokenKind::integer) return integer_in(token.text);
  if (token.kind != TokenKind::real) return std::nullopt;
  const auto number = number_in<double>(token.text);
  return number ? std::optional<Value>(*number) : std::nullopt;
}

std::optional<Value> boolean_value(const Token& token) {
  if (is_keyword(token, "TRUE") || (token.kind == TokenKind::integer && token.text == "1"))
    return Value(true);
  if (is_keyword(token, "FALSE") || (token.kind == TokenKind::integer && token.text == "0"))
    return Value(false);
  return std::nullopt;
}

std::optional<Value> enumerator_value(const Token& token, const Field& field) {
  if (token.kind == TokenKind::integer) return integer_in(token.text);
  if (token.kind != TokenKind::name && token.kind != TokenKind::text) return std::nullopt;
  for (const auto& each : field.enumerators) {
    if (each.name == token.text) return Value(each.number);
  }
  return std::nullopt;
}

std::optional<Value> text_value(const Token& token, const Field& field) {
  const bool fits =
      token.kind == TokenKind::text && (field.kind == FieldKind::text || token.text.size() == 1);
  return fits ? std::optional<Value>(token.text) : std::nullopt;
}

/// The value of a literal where the other side is `field`.
std::optional<Value> value_for(const Token& token, const Field& field) {
  switch (field.kind) {
    case FieldKind::boolean:
      return boolean_value(token);
    case FieldKind::enumeration:
      return enumerator_value(token, field);
    case FieldKind::text:
    case FieldKind::character:
      return text_value(token, field);
    default:
      return number_value(token);
  }
}

bool is_number(FieldKind kind) {
  return kind == FieldKind::signed_integer || kind == FieldKind::unsigned_integer ||
         kind == FieldKind::floating;
}
bool is_text(FieldKind kind) { return kind == FieldKind::text || kind == FieldKind::character; }

bool are_comparable(const Field& a, const Field& b) {
  if (a.kind == FieldKind::enumeration && b.kind == a.kind) return a.enumerators == b.enumerators;
  return a.kind == b.kind || (is_number(a.kind) && is_number(b.kind)) || (is_text(a.kind) && is_text(b.kind));
}

std::string kind_of(const Field& field) {
  std::string text = fmt::format("{} is {}", field.path, to_string(field.kind));
  if (field.enumerators.empty()) return text;
  text += " (";
  for (const auto& each : field.enumerators) text += (text.back() == '(' ? "" : ", ") + each.name;
  return text + ")";
}

class Binder {
 public:
  explicit Binder(Program& program) : program_(program) {}

  Result<Check> check_of(const Condition& condition) {
    Check check{condition.kind, condition.operator_, {}, {}};
    for (const Condition& each : condition.children) {
      auto child = check_of(each);
      if (!child) return child;
      check.children.push_back(std::move(*child));
    }
    if (condition.operands.empty()) return check;
    auto operands = operands_of(condition);
    if (!operands) return propagate(operands);
    check.operands = std::move(*operands);
    return check;
  }

  /// The index of the field that the token names. Errors: parse_error, with the column.
  Result<std::size_t> field_of(const Token& token) {
    auto field = program_.type->field(token.text);
    if (!field) return failure(Errc::parse_error, "column {}: {}", token.column, field.error().text());
    program_.fields.push_back(std::move(*field));
    return program_.fields.size() - 1;
  }

 private:
  const Field& field_at(std::size_t index) const { return program_.fields[index]; }

  bool names_field(const Token& token) const {
    return token.kind == TokenKind::name && program_.type->has_field(token.text);
  }

  /// The first operand that names a field decides what the others must be.
  Result<std::vector<Operand>> operands_of(const Condition& condition) {
    const auto& tokens = condition.operands;
    const bool may_be_right =
        condition.kind == Condition::Kind::comparison && condition.operator_ != Operator::like;
    const bool is_right = may_be_right && !names_field(tokens[0]) && names_field(tokens[1]);
    const Token& deciding = tokens[is_right ? 1 : 0];
    if (deciding.kind != TokenKind::name)
      return failure(Errc::parse_error, "column {}: a field is expected, not {}", deciding.column,
                     quoted(deciding));
    auto field = field_of(deciding);
    if (!field) return propagate(field);
    if (condition.operator_ == Operator::like && !is_text(field_at(*field).kind))
      return failure(Errc::parse_error, "column {}: LIKE is for strings, and {}", condition.column,
                     kind_of(field_at(*field)));
    std::vector<Operand> operands;
    for (const Token& each : tokens) {
      auto operand =
          &each == &deciding ? Result<Operand>(Operand{*field, {}}) : other(each, *field, condition);
      if (!operand) return propagate(operand);
      operands.push_back(std::move(*operand));
    }
    return operands;
  }

  Result<Operand> other(const Token& token, std::size_t field, const Condition& condition) {
    if (token.kind == TokenKind::parameter) return parameter(token, field, condition);
    if (token.kind == TokenKind::text && condition.operator_ == Operator::like)
      return Operand{Operand::no_field, token.text};
    if (auto value = value_for(token, field_at(field))) return Operand{Operand::no_field, std::move(*value)};
    if (token.kind == TokenKind::name) return other_field(token, field, condition);
    return failure(Errc::parse_error, "column {}: {} does not fit: {}", token.column, quoted(token),
                   kind_of(field_at(field)));
  }

  Result<Operand> other_field(const Token& token, std::size_t field, const Condition& condition) {
    if (condition.kind != Condition::Kind::comparison || condition.operator_ == Operator::like)
      return failure(Errc::parse_error, "column {}: a value or a parameter is expected, not {}", token.column,
                     quoted(token));
    auto found = field_of(token);
    if (!found) return propagate(found);
    if (are_comparable(field_at(field), field_at(*found))) return Operand{*found, {}};
    return failure(Errc::parse_error, "column {}: {}, but {}: they do not compare", token.column,
                   kind_of(field_at(field)), kind_of(field_at(*found)));
  }

  Result<Operand> parameter(const Token& token, std::size_t field, const Condition& condition) {
    const std::size_t number = std::stoul(token.text);
    if (number >= program_.parameters.size())
      return failure(Errc::parse_error, "column {}: %{} is used and there are {} parameters", token.column,
                     number, program_.parameters.size());
    auto value =
        parameter_value(program_.parameters[number], field_at(field), condition.operator_ == Operator::like);
    if (value) return Operand{Operand::no_field, std::move(*value)};
    Token shown{TokenKind::text, program_.parameters[number], token.column};
    return failure(Errc::parse_error, "column {}: parameter %{}, {}, does not fit: {}", token.column, number,
                   quoted(shown), kind_of(field_at(field)));
  }

  /// A parameter is a literal; a string or the name of an enumerator may lack its quotes. With quotes a
  /// doubled one within it is one.
  static std::optional<Value> parameter_value(const std::string& text, const Field& field, bool is_pattern) {
    const Token bare{TokenKind::text, without_quotes(text), 1};
    if (is_pattern) return Value(bare.text);
    if (auto value = value_for(bare, field)) return value;
    const auto tokens = tokens_of(text);
    if (!tokens || tokens->size() != 2) return std::nullopt;
    return value_for(tokens->front(), field);
  }

  static std::string without_quotes(std::string_view text) {
    const bool is_quoted = text.size() >= 2 && text.front() == '\'' && text.back() == '\'';
    if (!is_quoted) return std::string(text);
    text = text.substr(1, text.size() - 2);
    std::string bare;
    while (!text.empty()) {
      bare += text.front();
      text.remove_prefix(text.starts_with("''") ? 2 : 1);
    }
    return bare;
  }

  Program& program_;
};

}  // namespace

Status bind(const Syntax& syntax, Program& program) {
  Binder binder(program);
  auto check = binder.check_of(syntax.condition);
  if (!check) return propagate(check);
  program.check = std::move(*check);
  for (const Token& each : syntax.order_by) {
    auto field = binder.field_of(each);
    if (!field) return propagate(field);
    program.order_by.push_back(*field);
  }
  return {};
}

}  // namespace llamada::sql::detail
