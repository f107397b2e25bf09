#pragma once

#include <tinyxml2.h>

#include <string_view>

#include "element.hpp"
#include "llamada/base/result.hpp"

namespace llamada::qos::xml {

/// Turns Fast DDS's <profiles>, as the root or within <dds>, into a <qos_library> of the name "profiles", in
/// place. Each profile becomes a <qos_profile>; those with one name are one. Elements keep their lines and,
/// for messages, their names. What has no effect here is taken out, with a warning. docs/qos.md has the
/// counterparts. Does nothing to other files. Errors: parse_error.
Status translate_fast_dds(tinyxml2::XMLElement& root, std::string_view file, Warnings& warnings);

}  // namespace llamada::qos::xml
