#pragma once

#include <string>
#include <vector>

#include "element.hpp"

namespace llamada::qos::xml {

/// What an element is derived from, the first base first: the attribute base_name, then RTI Connext's
/// <base_name><element>...</element></base_name>, in which a later profile goes before an earlier one.
Result<std::vector<std::string>> base_names(const Element& element);

}  // namespace llamada::qos::xml
