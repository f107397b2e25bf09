#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace llamada::tools {

struct SpyOptions {
  std::string topic;
  std::optional<std::uint32_t> domain;  ///< Else that of the topic's first endpoint, or 0.
  std::uint64_t count = 0;              ///< Ends after so many samples; 0: when it is interrupted.
  std::size_t shown_bytes_max = 256;    ///< Of each sample, as text.
  bool with_history = false;            ///< Also what TRANSIENT_LOCAL writers have kept.
  bool as_json = false;
};

/// `llamada spy TOPIC`: prints the samples of a topic as they come, as a BEST_EFFORT reader that no writer
/// waits for. Returns 0, or 1 if there is no driver or it went away.
int spy(const SpyOptions& options);

}  // namespace llamada::tools
