#pragma once

#include <compare>

#include "llamada/types/value.hpp"
#include "syntax.hpp"

namespace llamada::sql::detail {

using types::Value;

/// Numbers by their value whatever their types, strings by their bytes. Unordered: an absent value, a NaN, or
/// values that do not compare.
std::partial_ordering compare(const Value& a, const Value& b);

/// False when either is absent.
bool holds(Operator operator_, const Value& left, const Value& right);

/// SQL's LIKE: '%' stands for any characters, '_' for one.
bool is_like(std::string_view text, std::string_view pattern);

}  // namespace llamada::sql::detail
