#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace llamada::types {

/// The kind of values that a field has, as filter expressions see it.
enum class FieldKind : std::uint8_t {
  boolean,
  character,
  signed_integer,
  unsigned_integer,
  floating,
  text,
  enumeration,
};

/// "an integer", "a string": for sentences.
std::string_view to_string(FieldKind kind);

/// One name of an enumeration and its number.
struct Enumerator {
  std::string name;
  std::int64_t number = 0;

  bool operator==(const Enumerator&) const = default;
};

/// The value of one field. Characters are strings of length one, enumerations their numbers. monostate: an
/// optional member that is absent.
using Value = std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string>;

}  // namespace llamada::types
