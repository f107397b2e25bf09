#pragma once

#include <string>

#include "element.hpp"

namespace llamada::qos::xml {

/// The attribute `name`, which must be there: letters, digits, '_' and '.', at most profile_name_length_max.
Result<std::string> read_name(const Element& element);

/// Without blanks at the ends, as the schema's whiteSpace "collapse".
std::string collapsed(std::string_view text);

}  // namespace llamada::qos::xml
