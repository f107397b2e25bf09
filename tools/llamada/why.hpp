#pragma once

#include <string>

namespace llamada::tools {

/// `llamada why TOPIC`: prints of each writer and reader of a topic whether they match, and why not. Returns
/// 0 if all match, 1 if some do not or an end is missing, 2 if the drivers cannot be looked at.
int explain(const std::string& topic, bool as_json);

}  // namespace llamada::tools
