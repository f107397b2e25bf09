#include "llamada/sql/filter.hpp"

#include <algorithm>

#include "program.hpp"

namespace llamada::sql {

using detail::Check;
using detail::Operand;
using detail::Operator;
using detail::Program;
using Kind = detail::Condition::Kind;

namespace {

Value value_of(const Program& program, const Operand& operand, const void* object) {
  if (operand.field == Operand::no_field) return operand.constant;
  return program.fields[operand.field].get(object);
}

bool compares(const Program& program, const Check& check, const void* object) {
  const auto value = [&](std::size_t index) { return value_of(program, check.operands[index], object); };
  if (check.kind == Kind::comparison) return detail::holds(check.operator_, value(0), value(1));
  const Value field = value(0);
  if (check.kind == Kind::in) {
    const auto is_it = [&](const Operand& each) {
      return detail::holds(Operator::equal, field, value_of(program, each, object));
    };
    return std::any_of(check.operands.begin() + 1, check.operands.end(), is_it);
  }
  return detail::holds(Operator::greater_equal, field, value(1)) &&
         detail::holds(Operator::less_equal, field, value(2));
}

bool passes(const Program& program, const Check& check, const void* object) {
  const auto child = [&](const Check& each) { return passes(program, each, object); };
  switch (check.kind) {
    case Kind::everything:
      return true;
    case Kind::all_of:
      return std::all_of(check.children.begin(), check.children.end(), child);
    case Kind::any_of:
      return std::any_of(check.children.begin(), check.children.end(), child);
    case Kind::not_:
      return !child(check.children.front());
    default:
      return compares(program, check, object);
  }
}

/// Less, greater or neither, with absent values before all others.
std::partial_ordering order_of(const Value& a, const Value& b) {
  if (a.index() == 0 || b.index() == 0) return (a.index() != 0) <=> (b.index() != 0);
  return detail::compare(a, b);
}

}  // namespace

Result<Filter> Filter::parse(std::string_view expression, std::span<const std::string> parameters,
                             const types::FieldSource& type) {
  return build(expression, parameters, type, false);
}

Result<Filter> Filter::parse_query(std::string_view expression, std::span<const std::string> parameters,
                                   const types::FieldSource& type) {
  return build(expression, parameters, type, true);
}

Result<Filter> Filter::build(std::string_view expression, std::span<const std::string> parameters,
                             const types::FieldSource& type, bool is_query) {
  if (parameters.size() > parameters_max)
    return failure(Errc::parse_error, "{} parameters where at most {} are allowed", parameters.size(),
                   parameters_max);
  const auto syntax = detail::parse(expression, is_query);
  if (!syntax) return tl::unexpected<Error>(syntax.error());
  auto program = std::make_shared<Program>();
  program->expression = expression;
  program->parameters.assign(parameters.begin(), parameters.end());
  program->is_query = is_query;
  program->type = &type;
  if (auto status = detail::bind(*syntax, *program); !status) return propagate(status);
  return Filter(std::move(program));
}

Result<Filter> Filter::with_parameters(std::span<const std::string> parameters) const {
  return build(program_->expression, parameters, *program_->type, program_->is_query);
}

Result<bool> Filter::matches(std::span<const std::byte> sample) const {
  auto object = program_->type->object_of(sample);
  if (!object) return propagate(object);
  return matches_object(object->get());
}

bool Filter::matches_object(const void* object) const { return passes(*program_, program_->check, object); }

bool Filter::is_ordered() const { return !program_->order_by.empty(); }

bool Filter::before(const void* a, const void* b) const {
  for (const std::size_t each : program_->order_by) {
    const auto& field = program_->fields[each];
    const auto order = order_of(field.get(a), field.get(b));
    if (order < 0) return true;
    if (order > 0) return false;
  }
  return false;
}

const std::string& Filter::expression() const { return program_->expression; }
const std::vector<std::string>& Filter::parameters() const { return program_->parameters; }
const types::FieldSource& Filter::type() const { return *program_->type; }

}  // namespace llamada::sql
