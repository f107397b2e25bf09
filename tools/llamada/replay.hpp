#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace llamada::tools {

struct ReplayOptions {
  std::string file;
  std::vector<std::string> topics;      ///< Empty: all topics of the file.
  std::optional<std::uint32_t> domain;  ///< Else that of the recording.
  double rate = 1;                      ///< How many times as fast as it was recorded.
  bool loop = false;                    ///< Again and again until it is interrupted.
  /// How long to wait for a reader of each topic, and at the end for all readers to have everything.
  std::optional<double> wait_s;  ///< Else as long as it takes.
};

/// `llamada replay FILE`: makes the writers of a recording again, and has them do what they did. Returns 0,
/// or 1 if the file is damaged or cannot be read, no reader came in time, or there is no driver.
int replay(const ReplayOptions& options);

}  // namespace llamada::tools
