#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

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

/// The whole number that such a value begins with; none if there is none.
inline std::optional<std::uint64_t> identity_number(std::string_view identity, std::string_view key) {
  const std::string_view text = identity_value(identity, key);
  std::uint64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc() ? std::optional(number) : std::nullopt;
}

}  // namespace llamada::mpi
