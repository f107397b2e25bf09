#pragma once

#include <string>

#include "element.hpp"

namespace llamada::qos::xml {

/// The attribute `name`, which must be there: printable UTF-8 without ':' and without blanks at its ends,
/// of at most profile_name_length_max bytes.
Result<std::string> read_name(const Element& element);

/// Without blanks at the ends, as the schema's whiteSpace "collapse".
std::string collapsed(std::string_view text);

}  // namespace llamada::qos::xml
