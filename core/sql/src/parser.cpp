#include <array>
#include <utility>

#include "llamada/sql/filter.hpp"
#include "syntax.hpp"

namespace llamada::sql::detail {

namespace {

using Kind = Condition::Kind;

constexpr std::array<std::pair<std::string_view, Operator>, 7> operators{{{"=", Operator::equal},
                                                                          {"<>", Operator::unequal},
                                                                          {"!=", Operator::unequal},
                                                                          {"<", Operator::less},
                                                                          {"<=", Operator::less_equal},
                                                                          {">", Operator::greater},
                                                                          {">=", Operator::greater_equal}}};

bool is_reserved(const Token& token) {
  for (const std::string_view each : {"AND", "OR", "NOT", "BETWEEN", "LIKE", "ORDER", "BY"}) {
    if (is_keyword(token, each)) return true;
  }
  return false;
}

Condition joined(Kind kind, std::vector<Condition> children) {
  if (children.size() == 1) return std::move(children.front());
  Condition condition;
  condition.kind = kind;
  condition.children = std::move(children);
  return condition;
}

/// Recursive descent: OR binds weaker than AND, AND weaker than NOT.
class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  Result<Syntax> run(bool is_query) {
    Syntax syntax;
    const bool is_empty = is_query && (at_end() || is_keyword(now(), "ORDER"));
    if (!is_empty) {
      auto condition = disjunction();
      if (!condition) return propagate(condition);
      syntax.condition = std::move(*condition);
    }
    if (is_query && is_keyword(now(), "ORDER")) {
      if (auto status = order_by(syntax); !status) return propagate(status);
    }
    if (!at_end()) return expected(is_query ? "AND, OR or ORDER BY" : "AND or OR");
    return syntax;
  }

 private:
  const Token& now() const { return tokens_[at_]; }
  bool at_end() const { return now().kind == TokenKind::end; }
  Token take() { return tokens_[at_++]; }

  bool accept_keyword(std::string_view keyword) {
    const bool is_there = is_keyword(now(), keyword);
    if (is_there) at_++;
    return is_there;
  }

  bool accept_symbol(std::string_view symbol) {
    const bool is_there = now().kind == TokenKind::symbol && now().text == symbol;
    if (is_there) at_++;
    return is_there;
  }

  tl::unexpected<Error> expected(std::string_view what) const {
    return failure(Errc::parse_error, "column {}: {} is expected, not {}", now().column, what, quoted(now()));
  }

  Result<Condition> disjunction() { return chain(Kind::any_of, "OR", &Parser::conjunction); }
  Result<Condition> conjunction() { return chain(Kind::all_of, "AND", &Parser::negation); }

  Result<Condition> chain(Kind kind, std::string_view keyword, Result<Condition> (Parser::*part)()) {
    std::vector<Condition> children;
    do {
      auto child = (this->*part)();
      if (!child) return child;
      children.push_back(std::move(*child));
    } while (accept_keyword(keyword));
    return joined(kind, std::move(children));
  }

  Result<Condition> negation() {
    const Token& first = now();
    const bool is_negated = accept_keyword("NOT");
    if (!is_negated && !accept_symbol("(")) return predicate();
    if (++depth_ > nesting_max)
      return failure(Errc::parse_error, "column {}: more than {} parentheses and NOTs within one another",
                     first.column, nesting_max);
    auto inner = is_negated ? negation() : disjunction();
    --depth_;
    if (!inner) return inner;
    if (!is_negated) {
      if (!accept_symbol(")")) return expected("AND, OR or ')'");
      return inner;
    }
    return negated(std::move(*inner));
  }

  static Condition negated(Condition inner) {
    Condition condition;
    condition.kind = Kind::not_;
    condition.children.push_back(std::move(inner));
    return condition;
  }

  Result<Token> operand() {
    const bool is_operand = !at_end() && now().kind != TokenKind::symbol && !is_reserved(now());
    if (!is_operand) return expected("a field, a value or a parameter");
    return take();
  }

  Result<Condition> predicate() {
    auto left = operand();
    if (!left) return propagate(left);
    const std::size_t column = now().column;
    const bool is_negated = accept_keyword("NOT");
    auto condition = predicate_of(std::move(*left), column, is_negated);
    if (!condition || !is_negated) return condition;
    return negated(std::move(*condition));
  }

  /// Without the NOT that may stand before BETWEEN, IN and LIKE.
  Result<Condition> predicate_of(Token left, std::size_t column, bool is_negated) {
    if (accept_keyword("BETWEEN")) return between(std::move(left), column);
    if (accept_keyword("IN")) return in(std::move(left), column);
    if (is_negated && !is_keyword(now(), "LIKE")) return expected("BETWEEN, IN or LIKE");
    return comparison(std::move(left), column);
  }

  Result<Condition> in(Token field, std::size_t column) {
    Condition condition;
    condition.kind = Kind::in;
    condition.operands.push_back(std::move(field));
    condition.column = column;
    if (!accept_symbol("(")) return expected("the '(' of IN");
    do {
      auto value = operand();
      if (!value) return propagate(value);
      condition.operands.push_back(std::move(*value));
    } while (accept_symbol(","));
    if (!accept_symbol(")")) return expected("',' or the ')' of IN");
    return condition;
  }

  Result<Condition> between(Token field, std::size_t column) {
    auto low = operand();
    if (!low) return propagate(low);
    if (!accept_keyword("AND")) return expected("the AND of BETWEEN");
    auto high = operand();
    if (!high) return propagate(high);
    Condition condition;
    condition.kind = Kind::between;
    condition.operands = {std::move(field), std::move(*low), std::move(*high)};
    condition.column = column;
    return condition;
  }

  Result<Condition> comparison(Token left, std::size_t column) {
    Condition condition;
    condition.kind = Kind::comparison;
    condition.column = column;
    if (!accept_operator(condition.operator_)) return expected("=, <>, <, <=, >, >=, LIKE, BETWEEN or IN");
    auto right = operand();
    if (!right) return propagate(right);
    condition.operands = {std::move(left), std::move(*right)};
    return condition;
  }

  bool accept_operator(Operator& operator_) {
    if (accept_keyword("LIKE")) {
      operator_ = Operator::like;
      return true;
    }
    for (const auto& [symbol, meaning] : operators) {
      if (!accept_symbol(symbol)) continue;
      operator_ = meaning;
      return true;
    }
    return false;
  }

  Status order_by(Syntax& syntax) {
    accept_keyword("ORDER");
    if (!accept_keyword("BY")) return expected("the BY of ORDER BY");
    do {
      if (now().kind != TokenKind::name || is_reserved(now())) return expected("a field");
      syntax.order_by.push_back(take());
    } while (accept_symbol(","));
    return {};
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
};

}  // namespace

Result<Syntax> parse(std::string_view expression, bool is_query) {
  auto tokens = tokens_of(expression);
  if (!tokens) return propagate(tokens);
  return Parser(std::move(*tokens)).run(is_query);
}

}  // namespace llamada::sql::detail
