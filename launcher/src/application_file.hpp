#pragma once

#include <string>
#include <vector>

#include "llamada/base/result.hpp"

namespace llamada::launcher {

/// The programs of a job from a file (-configfile, --app): a line for each, options and program as on the
/// command line. Words are divided by blanks; '...' and "..." keep them together, \\ takes the next character
/// as it is, also the end of the line; '#' at the beginning of a word begins a comment. The words of all
/// lines, with ":" between the lines. Errors: Errc::parse_error with the line; those of read_small_file().
Result<std::vector<std::string>> read_application_file(const std::string& path);

}  // namespace llamada::launcher
