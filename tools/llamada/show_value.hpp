#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "llamada/types/dynamic_value.hpp"

// Values of types that are known at run time only, for people and programs.
namespace llamada::tools {

/// Members by their names; enumerations and bits by theirs; an absent optional or member is null. A
/// collection of which not all elements were kept ends with "... and N more". A union is {"alternative": N,
/// "value": V}.
nlohmann::ordered_json to_json(const types::DynamicValue& value);

/// "{x: 1, name: "a", colour: red}" in one line.
std::string to_line(const types::DynamicValue& value);

/// A line "  name: value" for each member of a struct.
std::string to_lines(const types::DynamicValue& value);

/// The columns of a struct: members of nested structs as "pose.x", all others one each.
std::vector<std::string> csv_columns(const types::DynamicType& type);
/// The cells of these columns, which need no more quotes; a cell that is no single value is JSON.
std::vector<std::string> csv_cells(const types::DynamicValue& value);
/// Text as a cell (RFC 4180): in quotes where it has to be.
std::string csv_cell(const std::string& text);

}  // namespace llamada::tools
