#pragma once

#include <string>

namespace llamada::launcher {

/// Reads a file of /proc or of a control group to its end into `text`, whose room is used again. False: it
/// cannot be read.
bool read_kernel_file(const std::string& path, std::string& text);

}  // namespace llamada::launcher
