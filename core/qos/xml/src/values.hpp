#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "element.hpp"
#include "llamada/base/result.hpp"
#include "llamada/qos/policy.hpp"

// The values that stand in the elements of policies.
namespace llamada::qos::xml {

enum class ValueType {
  kind,      ///< One of the rule's names, with or without the suffix of its IDL name: a string.
  duration,  ///< <sec> and <nanosec>: a Duration.
  length,    ///< A count from 0 or LENGTH_UNLIMITED: an int32_t.
  depth,     ///< A count from 0: an int32_t.
  count,     ///< A count from 0 to 2^32-1: an uint64_t.
  integer,   ///< A number that may be negative: an int32_t.
  boolean,   ///< true, false, 1 or 0: the string "true" or "false".
  size,      ///< Bytes, with KiB, MiB or GiB: an uint64_t.
  opaque,    ///< Anything; only whether it is empty can be seen: a string, "" or "given".
};

using Value = std::variant<std::string, Duration, std::int32_t, std::uint64_t>;

/// What one child element of a policy may hold.
struct ValueRule {
  std::string_view name;  ///< The element's name, "max_blocking_time".
  ValueType type;
  Value default_value;                       ///< The standard's.
  std::vector<std::string_view> kinds = {};  ///< For ValueType::kind, "KEEP_ALL".
  std::string_view suffix = {};              ///< For ValueType::kind, "_HISTORY_QOS".
};

/// Reads the element by its rule. Errc::parse_error names the legal values and the nearest one.
Result<Value> read_value(const Element& element, const ValueRule& rule);

/// A value as a message shows it.
std::string value_to_string(const Value& value, ValueType type);

}  // namespace llamada::qos::xml
