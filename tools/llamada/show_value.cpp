#include "show_value.hpp"

#include <fmt/format.h>

#include <functional>

#include "json_text.hpp"

namespace llamada::tools {

using nlohmann::ordered_json;
using types::DynamicType;
using types::DynamicValue;
using Kind = DynamicType::Kind;

namespace {

/// "red"; a number without a name stays a number.
std::string enumerator_name(const DynamicType& type, std::int64_t number) {
  for (const types::Enumerator& each : type.enumerators)
    if (each.number == number) return each.name;
  return fmt::format("{}", number);
}

/// "read|run"; "0" without any.
std::string bit_names(const DynamicType& type, std::uint64_t bits) {
  std::string text;
  for (const types::Enumerator& each : type.enumerators) {
    const auto bit = static_cast<std::uint64_t>(each.number);
    if (bit == 0 || (bits & bit) != bit) continue;
    text += (text.empty() ? "" : "|") + each.name;
    bits &= ~bit;
  }
  if (bits != 0 || text.empty()) text += fmt::format("{}{}", text.empty() ? "" : "|", bits);
  return text;
}

ordered_json scalar_to_json(const DynamicValue& value) {
  if (value.scalar.index() == 0) return nullptr;
  if (value.type->kind == Kind::enumeration)
    return enumerator_name(*value.type, std::get<std::int64_t>(value.scalar));
  if (value.type->kind == Kind::bitmask) return bit_names(*value.type, std::get<std::uint64_t>(value.scalar));
  return std::visit(
      []<typename V>(const V& held) -> ordered_json {
        if constexpr (std::is_same_v<V, std::monostate>)
          return nullptr;
        else
          return held;
      },
      value.scalar);
}

ordered_json elements_to_json(const DynamicValue& value) {
  ordered_json list = ordered_json::array();
  const bool is_map = value.type->kind == Kind::map;
  for (std::size_t i = 0; i < value.parts.size(); i += is_map ? 2 : 1) {
    if (is_map)
      list.push_back({{"key", to_json(value.parts[i])}, {"value", to_json(value.parts[i + 1])}});
    else
      list.push_back(to_json(value.parts[i]));
  }
  if (list.size() < value.count) list.push_back(fmt::format("... and {} more", value.count - list.size()));
  return list;
}

/// A struct, union or collection that an APPENDABLE or MUTABLE sample lacks.
bool is_lacking(const DynamicValue& value) {
  if (value.type->kind == Kind::structure) return value.parts.size() < value.type->members.size();
  return value.type->kind == Kind::union_ && value.scalar.index() == 0;
}

std::string union_value(const DynamicValue& value) {
  return value.parts.empty() ? "nothing" : to_line(value.parts.front());
}

std::string elements_to_line(const DynamicValue& value) {
  std::string text;
  const bool is_map = value.type->kind == Kind::map;
  std::size_t shown = 0;
  for (std::size_t i = 0; i < value.parts.size(); i += is_map ? 2 : 1, ++shown) {
    text += text.empty() ? "" : ", ";
    text += to_line(value.parts[i]);
    if (is_map) text += ": " + to_line(value.parts[i + 1]);
  }
  if (shown < value.count)
    text += fmt::format("{}... and {} more", shown == 0 ? "" : ", ", value.count - shown);
  return is_map ? "{" + text + "}" : "[" + text + "]";
}

/// A hostile type has no end of columns: structs nested deeper, or behind so many columns, are one cell.
constexpr std::size_t column_depth_max = 16;
constexpr std::size_t split_columns_max = 4096;

/// Visits the columns of a struct in their order; the value is null where there is none.
class Columns {
 public:
  using Visitor = std::function<void(const std::string& name, const DynamicValue* value)>;

  explicit Columns(Visitor visit) : visit_(std::move(visit)) {}

  void visit(const DynamicType& type, const DynamicValue* value, const std::string& path = "",
             std::size_t depth = 0) {
    for (std::size_t i = 0; i < type.members.size(); ++i) {
      const types::DynamicMember& member = type.members[i];
      const DynamicValue* part = value == nullptr || i >= value->parts.size() ? nullptr : &value->parts[i];
      const bool is_split = member.type->kind == Kind::structure && depth < column_depth_max &&
                            visited_ < split_columns_max && !member.type->members.empty();
      if (is_split) {
        visit(*member.type, part, path + member.name + ".", depth + 1);
      } else {
        ++visited_;
        visit_(path + member.name, part);
      }
    }
  }

 private:
  Visitor visit_;
  std::size_t visited_ = 0;
};

}  // namespace

ordered_json to_json(const DynamicValue& value) {
  if (is_lacking(value)) return nullptr;
  switch (value.type->kind) {
    case Kind::nothing:
      return nullptr;
    case Kind::structure: {
      ordered_json object = ordered_json::object();
      for (std::size_t i = 0; i < value.parts.size(); ++i)
        object[value.type->members[i].name] = to_json(value.parts[i]);
      return object;
    }
    case Kind::optional:
      return value.parts.empty() ? ordered_json(nullptr) : to_json(value.parts.front());
    case Kind::union_:
      return {{"alternative", std::get<std::int64_t>(value.scalar)},
              {"value", value.parts.empty() ? ordered_json(nullptr) : to_json(value.parts.front())}};
    case Kind::sequence:
    case Kind::array:
    case Kind::map:
      return elements_to_json(value);
    default:
      return scalar_to_json(value);
  }
}

std::string to_line(const DynamicValue& value) {
  if (is_lacking(value)) return "absent";
  switch (value.type->kind) {
    case Kind::nothing:
      return "nothing";
    case Kind::structure: {
      std::string text;
      for (std::size_t i = 0; i < value.parts.size(); ++i)
        text +=
            fmt::format("{}{}: {}", i == 0 ? "" : ", ", value.type->members[i].name, to_line(value.parts[i]));
      return "{" + text + "}";
    }
    case Kind::optional:
      return value.parts.empty() ? "absent" : to_line(value.parts.front());
    case Kind::union_:
      return union_value(value);
    case Kind::sequence:
    case Kind::array:
    case Kind::map:
      return elements_to_line(value);
    case Kind::enumeration:
    case Kind::bitmask:
      return value.scalar.index() == 0 ? "absent" : scalar_to_json(value).get<std::string>();
    case Kind::floating:
      return value.scalar.index() == 0 ? "absent" : fmt::format("{}", std::get<double>(value.scalar));
    default:
      return value.scalar.index() == 0 ? "absent" : dump(scalar_to_json(value), -1);
  }
}

std::string to_lines(const DynamicValue& value) {
  std::string text;
  for (std::size_t i = 0; i < value.parts.size(); ++i)
    text += fmt::format("  {}: {}\n", value.type->members[i].name, to_line(value.parts[i]));
  return text;
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char each : text) quoted += each == '"' ? "\"\"" : std::string(1, each);
  return quoted + "\"";
}

std::vector<std::string> csv_columns(const DynamicType& type) {
  std::vector<std::string> names;
  Columns([&](const std::string& name, const DynamicValue*) {
    names.push_back(csv_cell(name));
  }).visit(type, nullptr);
  return names;
}

std::vector<std::string> csv_cells(const DynamicValue& value) {
  std::vector<std::string> cells;
  Columns([&](const std::string&, const DynamicValue* part) {
    const ordered_json shown = part == nullptr ? ordered_json(nullptr) : to_json(*part);
    if (shown.is_null())
      cells.emplace_back();
    else
      cells.push_back(csv_cell(shown.is_string() ? shown.get<std::string>() : dump(shown, -1)));
  }).visit(*value.type, &value);
  return cells;
}

}  // namespace llamada::tools
