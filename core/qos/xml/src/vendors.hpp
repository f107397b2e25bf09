#pragma once

#include <string_view>

namespace llamada::qos::xml {

/// Whether `element` is known to stand in `parent` in the files of other vendors, or of a later DDS-XML, and
/// has no effect here. docs/qos.md has the list.
bool is_ignored(std::string_view parent, std::string_view element);

/// The sentence that refuses `element` within `parent`: another vendor's element that changes what programs
/// see and is not supported. It names the vendor and says what to write instead. Empty for all other
/// elements.
std::string_view refusal(std::string_view parent, std::string_view element);

/// Whether an element of refusal() says with this value only what happens here anyway.
bool asks_for_nothing(std::string_view parent, std::string_view element, std::string_view value);

/// The sentence for an element at the top of another vendor's file: "CycloneDDS", "OpenSplice". Empty for all
/// others.
std::string_view foreign_root(std::string_view element);

/// The sentence for a value that only another vendor has: "HIGHEST_OFFERED_PRESENTATION_QOS". Empty for all
/// others.
std::string_view foreign_value(std::string_view value);

}  // namespace llamada::qos::xml
