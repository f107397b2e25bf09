#pragma once

#include <algorithm>
#include <string_view>

namespace llamada::mpi {

/// The value of a key of World::identity() ("key=value" lines), empty if there is none. A view into it.
inline std::string_view identity_value(std::string_view identity, std::string_view key) {
  while (!identity.empty()) {
    const auto line = identity.substr(0, identity.find('\n'));
    identity.remove_prefix(std::min(identity.size(), line.size() + 1));
    if (line.starts_with(key) && line.substr(key.size(), 1) == "=") return line.substr(key.size() + 1);
  }
  return {};
}

}  // namespace llamada::mpi
