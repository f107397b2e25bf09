#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace llamada::tools {

/// JSON text, whatever bytes names have.
inline std::string dump(const nlohmann::ordered_json& value, int indent = 2) {
  return value.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace llamada::tools
