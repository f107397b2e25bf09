#pragma once

#include <string_view>

namespace llamada::qos {

/// True if the name has a character that makes it a pattern: * ? [
bool is_name_pattern(std::string_view name);

/// True if a name fits a pattern of POSIX fnmatch() (DDS 1.4, 2.2.3.13): * is any text, ? any character,
/// [...] one of several, with ranges, classes such as [:alpha:] and ! in front for none of them; \ makes the
/// next character an ordinary one. Characters are code points of UTF-8, and ranges follow their numbers;
/// classes have ASCII characters only. Unlike with fnmatch(), the locale has no say: both ends judge alike.
bool fits_name_pattern(std::string_view pattern, std::string_view name);

}  // namespace llamada::qos
