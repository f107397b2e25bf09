#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "llamada/topics/discovery.hpp"

namespace llamada::topics {

/// What a persistence service does in its domain. Its participant's user data says it.
enum class ServiceRole : std::uint8_t {
  serves,   ///< Reads the writers and gives late readers the past: one service of a domain.
  aligned,  ///< Has all that the serving one has, and takes its place when that ends.
  joins,    ///< Is on the way there.
};

inline std::span<const std::byte> bytes_of(ServiceRole role) {
  const std::string_view text = role == ServiceRole::serves    ? "serves"
                                : role == ServiceRole::aligned ? "aligned"
                                                               : "joins";
  return std::as_bytes(std::span(text));
}

inline std::vector<std::byte> encode(ServiceRole role) {
  const auto bytes = bytes_of(role);
  return {bytes.begin(), bytes.end()};
}

/// Of a participant that keeps topics. One of a release without roles serves.
inline ServiceRole service_role(const ParticipantInfo& service) {
  for (const ServiceRole role : {ServiceRole::aligned, ServiceRole::joins})
    if (std::ranges::equal(service.user_data, bytes_of(role))) return role;
  return ServiceRole::serves;
}

}  // namespace llamada::topics
