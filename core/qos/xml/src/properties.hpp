#pragma once

#include "element.hpp"
#include "policy_reader.hpp"

namespace llamada::qos::xml {

/// PROPERTY of DDS-XML:
/// <property><value><element><name>N</name><value>V</value></element></value></property>. The tuning
/// variables are taken (tuning.hpp); a misspelt one is refused. Other properties are other vendors': the
/// reader gets a warning.
Status read_properties(PolicyReader& reader, const Element& property);

}  // namespace llamada::qos::xml
