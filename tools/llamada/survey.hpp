#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "llamada/base/result.hpp"
#include "llamada/recording/recording_reader.hpp"

namespace llamada::tools {

/// What a recording has of the topics that are asked for, up to its end or its first damaged record.
struct Survey {
  recording::Start start;
  std::vector<recording::Writer> writers;
  std::uint64_t samples = 0;
  std::uint64_t lost = 0;                ///< The recorder was too slow for these.
  std::optional<std::int64_t> first_ns;  ///< When the first sample was received.
  std::optional<Error> damage;           ///< Why no more can be read.
  bool has_ended = false;                ///< The recorder ended in good order.
};

/// Reads the whole file. No topics: all. Errors: those of RecordingReader::open(); a damaged record is none.
Result<Survey> survey(const std::string& file, const std::vector<std::string>& topics);

/// "FILE: ...": a sentence on what is missing in the recording; empty if it is whole.
std::string incompleteness(const Survey& survey, const std::string& file);

}  // namespace llamada::tools
