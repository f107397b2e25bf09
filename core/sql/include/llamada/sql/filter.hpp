#pragma once

#include <memory>

#include "llamada/types/type_support.hpp"

// The expressions of content-filtered topics and queries (DDS 1.4, Annex B). They have comparisons (=, <>, <,
// <=, >, >=), LIKE, BETWEEN, AND, OR, NOT and parentheses. Operands are parameters %0 to %99, fields of
// nested structs as a.b, and names of enumerators in quotes. Queries may end in ORDER BY. Keywords are in any
// case. Beyond Annex B there are !=, NOT LIKE, IN, NOT IN, and '' for a quote within a string. Operands may
// also be elements a[2], lengths a.length, and names of enumerators without quotes.
namespace llamada::sql {

using types::Value;

constexpr std::size_t expression_bytes_max = 65536;
constexpr std::size_t parameters_max = 100;
/// Parentheses and NOTs within one another.
constexpr std::size_t nesting_max = 64;

namespace detail {
struct Program;
}

/// A checked expression over the fields of one type. Immutable: any thread. A copy is cheap.
class Filter {
 public:
  /// The expression of a ContentFilteredTopic. Everything is checked here: syntax, names of fields, types of
  /// both sides, and that each parameter is there and fits. Strings among the parameters may be in quotes or
  /// not. `type` must outlive the filter. Errors: parse_error, with the column (from 1) and what was
  /// expected.
  static Result<Filter> parse(std::string_view expression, std::span<const std::string> parameters,
                              const types::FieldSource& type);
  /// The expression of a QueryCondition, which may be empty (everything) and may end in ORDER BY.
  static Result<Filter> parse_query(std::string_view expression, std::span<const std::string> parameters,
                                    const types::FieldSource& type);

  /// This expression with other parameters. Errors: as parse().
  Result<Filter> with_parameters(std::span<const std::string> parameters) const;

  /// True if the sample passes. A comparison with an optional member that is absent is false. Errors:
  /// parse_error (the bytes are no sample of the type).
  Result<bool> matches(std::span<const std::byte> sample) const;
  /// matches() for an object that FieldSource::object_of() gave.
  bool matches_object(const void* object) const;

  /// True if there is an ORDER BY.
  bool is_ordered() const;
  /// True if ORDER BY puts `a` before `b`. Absent members come first.
  bool before(const void* a, const void* b) const;

  const std::string& expression() const;
  const std::vector<std::string>& parameters() const;
  const types::FieldSource& type() const;

 private:
  explicit Filter(std::shared_ptr<const detail::Program> program) : program_(std::move(program)) {}
  static Result<Filter> build(std::string_view expression, std::span<const std::string> parameters,
                              const types::FieldSource& type, bool is_query);

  std::shared_ptr<const detail::Program> program_;
};

}  // namespace llamada::sql
