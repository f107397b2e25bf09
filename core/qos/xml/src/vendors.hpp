#pragma once

#include <string_view>

namespace llamada::qos::xml {

/// Whether `element` is known to stand in `parent` in the files of other vendors, or of a later DDS-XML, and
/// has no effect here. docs/qos.md has the list.
bool is_ignored(std::string_view parent, std::string_view element);

}  // namespace llamada::qos::xml
