#pragma once

#include <string>
#include <string_view>

#include "llamada/base/result.hpp"

namespace llamada::qos::xml {

/// The text as the parser takes it: the XML declaration and processing instructions (RTI Connext marks
/// snippets with <?rti-qos_snippet?>) are blanks, lines stay where they are. Errc::parse_error for a document
/// type and for text that is not UTF-8, with the line.
Result<std::string> markup_of(std::string_view text, std::string_view file);

}  // namespace llamada::qos::xml
