#pragma once

#include <cstdint>
#include <optional>
#include <tuple>

#include "llamada/log/arena_layout.hpp"

namespace llamada::replication {

/// A log of a job: the slot of the rank that writes it, and its key there.
struct LogName {
  std::uint32_t writer = 0;
  log::LogKey key;
  bool operator==(const LogName&) const = default;
  bool operator<(const LogName& other) const {
    return std::tie(writer, key.high, key.low) < std::tie(other.writer, other.key.high, other.key.low);
  }
};

/// The key of a copy of that log in its keeper's arena.
constexpr log::LogKey copy_key(const LogName& name) {
  return {name.key.high | (std::uint64_t{name.writer} + 1) << 32, name.key.low};
}

/// What a log with this key in a keeper's arena is a copy of; nothing if it is no copy.
constexpr std::optional<LogName> copied_log(log::LogKey key) {
  const std::uint64_t writer = key.high >> 32;
  if (writer == 0) return std::nullopt;
  return LogName{static_cast<std::uint32_t>(writer - 1), {key.high & 0xffffffff, key.low}};
}

}  // namespace llamada::replication
