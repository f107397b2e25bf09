#pragma once

#include "llamada/base/file_descriptor.hpp"

namespace llamada::launcher {

/// The ends of a rank's pipes that the rank gets.
struct RankStreams {
  FileDescriptor input, output, error;
};

}  // namespace llamada::launcher
