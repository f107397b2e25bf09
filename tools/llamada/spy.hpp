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
  std::string where;                    ///< A filter expression; empty: all samples.
  std::size_t shown_bytes_max = 256;    ///< Of each sample, as text.
  bool with_history = false;            ///< Also what TRANSIENT_LOCAL writers have kept.
  bool as_json = false;
  bool as_csv = false;
  bool as_bytes = false;  ///< The bytes even where the type is known.
};

/// `llamada spy TOPIC`: prints the samples of a topic as they come, as a BEST_EFFORT reader that no writer
/// waits for. Fields are shown by their names where the writer describes its type in discovery. Returns 0, 1
/// if there is no driver or it went away, or 2 if the filter does not fit the type.
int spy(const SpyOptions& options);

}  // namespace llamada::tools
