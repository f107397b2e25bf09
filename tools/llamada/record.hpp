#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace llamada::tools {

struct RecordOptions {
  std::string file;
  std::vector<std::string> topics;      ///< Empty: all topics of the domain.
  std::optional<std::uint32_t> domain;  ///< Else that of the first such topic, or 0.
  std::uint64_t count = 0;              ///< Ends after so many samples; 0: when it is interrupted.
  bool best_effort = false;             ///< No writer waits for the recorder.
};

/// `llamada record -o FILE`: writes what the writers of topics do to a file, of which `llamada replay` makes
/// writers that do the same. Returns 0, or 1 if there is no driver, it went away, or the file cannot be
/// written.
int record(const RecordOptions& options);

}  // namespace llamada::tools
