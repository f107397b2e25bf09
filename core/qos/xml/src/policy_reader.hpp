#pragma once

#include "element.hpp"
#include "llamada/qos/profile.hpp"

namespace llamada::qos::xml {

/// Puts what stands in a <qos_profile> over the policies of `profile`, child element by child element: what
/// does not stand there stays. Each policy is checked by itself; how they fit each other is the caller's to
/// check.
Status read_profile_element(const Element& element, Profile& profile);

}  // namespace llamada::qos::xml
